/// The format of audio without a header: `16000,1,s16`.
public struct RawFormat: Equatable, Sendable {
    /// One sample, little-endian.
    public enum Sample: String, CaseIterable, Sendable {
        case u8, s16, s24, s32, f32

        public var bytes: Int {
            switch self {
            case .u8: 1
            case .s16: 2
            case .s24: 3
            case .s32, .f32: 4
            }
        }

        /// Also understands ALSA's names, as `arecord --format` takes them.
        init?(name: String) {
            let alsa = ["u8": Sample.u8, "s16_le": .s16, "s24_3le": .s24, "s32_le": .s32, "float_le": .f32]
            guard let sample = Sample(rawValue: name.lowercased()) ?? alsa[name.lowercased()] else { return nil }
            self = sample
        }
    }

    /// Frames per second.
    public let rate: Int
    public let channels: Int
    public let sample: Sample

    /// Nil outside the limits of audio files.
    public init?(rate: Int, channels: Int, sample: Sample) {
        guard AudioFile.rates.contains(rate), AudioFile.channelCounts.contains(channels) else { return nil }
        self.rate = rate
        self.channels = channels
        self.sample = sample
    }

    /// Nil for text that is not `RATE,CHANNELS,FORMAT` within the limits of audio files.
    public init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let rate = Int(parts[0]), let channels = Int(parts[1]),
            let sample = Sample(name: parts[2])
        else { return nil }
        self.init(rate: rate, channels: channels, sample: sample)
    }

    /// Bytes of one sample of each channel.
    public var frameBytes: Int { channels * sample.bytes }

    /// The samples of whole frames as floats; full scale is ±1, floating-point samples are unchanged.
    ///
    /// - Parameter bytes: an incomplete last sample is left out.
    public func samples(_ bytes: ArraySlice<UInt8>) -> [Float] {
        bytes.withUnsafeBytes { bytes in
            (0..<bytes.count / sample.bytes).map { index in
                let place = index * sample.bytes
                switch sample {
                case .u8: return Float(Int(bytes[place]) - 128) * 0x1p-7
                case .s16:
                    return Float(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int16.self)))
                        * 0x1p-15
                case .s24:
                    let high = Int32(Int8(bitPattern: bytes[place + 2])) << 16
                    return Float(high | Int32(bytes[place + 1]) << 8 | Int32(bytes[place])) * 0x1p-23
                case .s32:
                    return Float(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)))
                        * 0x1p-31
                case .f32:
                    let bits = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
                    return Float(bitPattern: bits)
                }
            }
        }
    }
}
