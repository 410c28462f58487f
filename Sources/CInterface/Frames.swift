import CBeckon

/// The mean of the channels of the caller's samples, in −1…1.
func mean(
    of samples: UnsafeRawPointer?,
    _ format: beckon_format,
    _ frames: Int,
    _ channels: Int32
) throws(CallError) -> [Float] {
    guard (1...64).contains(channels) else { throw CallError("from 1 to 64 channels, not \(channels)") }
    let channels = Int(channels)
    guard frames >= 0, frames < Int.max / 8 / channels, samples != nil || frames == 0 else {
        throw CallError("the samples are NULL, or their count is too large")
    }
    guard let samples else { return [] }
    switch format {
    case BECKON_INT16: return mean(samples, Int16.self, frames, channels) { Float($0) / 32_768 }
    case BECKON_FLOAT32: return mean(samples, Float.self, frames, channels) { $0 }
    case BECKON_FLOAT64: return mean(samples, Double.self, frames, channels) { Float($0) }
    default: throw CallError("format is \(format.rawValue); beckon.h has its values")
    }
}

private func mean<Sample>(
    _ samples: UnsafeRawPointer,
    _: Sample.Type,
    _ frames: Int,
    _ channels: Int,
    _ float: (Sample) -> Float
) -> [Float] {
    let step = MemoryLayout<Sample>.stride
    return (0..<frames).map { frame in
        var sum: Float = 0
        for channel in 0..<channels {
            sum += float(samples.loadUnaligned(fromByteOffset: (frame * channels + channel) * step, as: Sample.self))
        }
        return sum / Float(channels)
    }
}
