extension SampleLayout {
    /// Writes mono samples as frames, each sample in all channels; larger ones than full scale are clipped, and NaN becomes 0.
    ///
    /// - Parameters:
    ///   - channels: 1 or more.
    ///   - bytes: room for `samples.count` frames; what finds no room is left out.
    public func encode(_ samples: Span<Float>, channels: Int, into bytes: UnsafeMutableRawBufferPointer) {
        let count = min(samples.count, bytes.count / max(1, self.bytes * channels))
        var place = 0
        for index in 0..<count {
            let sample = samples[index].isNaN ? 0 : max(-1, min(1, samples[index]))
            for _ in 0..<channels {
                put(sample, at: place, in: bytes)
                place += self.bytes
            }
        }
    }

    private func put(_ sample: Float, at place: Int, in bytes: UnsafeMutableRawBufferPointer) {
        switch self {
        case .u8: bytes[place] = UInt8(clamping: Int((sample * 128).rounded()) + 128)
        case .s8: bytes[place] = UInt8(bitPattern: Int8(clamping: Int((sample * 128).rounded())))
        case .s16: bytes.storeBytes(of: Int16(sample: sample).littleEndian, toByteOffset: place, as: Int16.self)
        case .s24:
            let whole = Self.whole24(sample)
            for byte in 0..<3 { bytes[place + byte] = UInt8(truncatingIfNeeded: whole >> (8 * byte)) }
        case .s24le32:
            bytes.storeBytes(of: Self.whole24(sample).littleEndian, toByteOffset: place, as: Int32.self)
        case .s32:
            let whole = Int32(clamping: Int((Double(sample) * 0x1p31).rounded()))
            bytes.storeBytes(of: whole.littleEndian, toByteOffset: place, as: Int32.self)
        case .f32:
            bytes.storeBytes(of: sample.bitPattern.littleEndian, toByteOffset: place, as: UInt32.self)
        case .f64:
            bytes.storeBytes(of: Double(sample).bitPattern.littleEndian, toByteOffset: place, as: UInt64.self)
        }
    }

    private static func whole24(_ sample: Float) -> Int32 {
        max(-0x80_0000, min(0x7F_FFFF, Int32((sample * 0x1p23).rounded())))
    }
}
