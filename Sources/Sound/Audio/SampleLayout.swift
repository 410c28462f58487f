/// How one sample of PCM audio lies in bytes, and what its full scale is. Little-endian.
///
/// The names are those of `--raw`.
public enum SampleLayout: String, CaseIterable, Sendable, BitwiseCopyable {
    /// 8 bits without a sign: 128 is 0.
    case u8
    /// 8 bits with a sign.
    case s8
    case s16
    /// 24 bits in 3 bytes, packed; ALSA's `S24_3LE`.
    case s24
    /// 24 bits in the low 3 of 4 bytes, whatever the highest byte holds; ALSA's `S24_LE`.
    case s24le32
    case s32
    /// Floating point of 32 bits; full scale is ±1.
    case f32
    /// Floating point of 64 bits; full scale is ±1.
    case f64

    /// Bytes of a sample.
    public var bytes: Int {
        switch self {
        case .u8, .s8: 1
        case .s16: 2
        case .s24: 3
        case .s24le32, .s32, .f32: 4
        case .f64: 8
        }
    }

    /// Whether samples are floating-point numbers, which may be NaN or exceed the full scale.
    public var isFloat: Bool { self == .f32 || self == .f64 }

    private static let alsaNames: [String: SampleLayout] = [
        "S16_LE": .s16, "S24_3LE": .s24, "S24_LE": .s24le32, "S32_LE": .s32, "FLOAT_LE": .f32, "FLOAT64_LE": .f64,
        "U8": .u8, "S8": .s8,
    ]

    /// Also understands ALSA's names, as `arecord --format` takes them.
    public init?(name: String) {
        guard let layout = SampleLayout(rawValue: name.lowercased()) ?? Self.alsaNames[name.uppercased()] else {
            return nil
        }
        self = layout
    }

    /// ALSA's name.
    public var alsaName: String { Self.alsaNames.first { $0.value == self }?.key ?? rawValue }

    /// Decodes whole samples, as many as are there and fit; full scale becomes ±1, and nothing is clipped.
    ///
    /// - Parameters:
    ///   - bytes: an incomplete last sample is left out.
    ///   - samples: gets the samples. A NaN stays one: see ``PCMDecoder/Progress/isUnusable``.
    /// - Returns: the number of samples written.
    @discardableResult
    @_lifetime(samples: copy samples)
    public func decode(_ bytes: Span<UInt8>, into samples: inout MutableSpan<Float>) -> Int {
        bytes.withUnsafeBytes { bytes in
            samples.withUnsafeMutableBufferPointer { samples in decode(bytes, into: samples) }
        }
    }

    func decode(_ bytes: UnsafeRawBufferPointer, into samples: UnsafeMutableBufferPointer<Float>) -> Int {
        let count = min(bytes.count / self.bytes, samples.count)
        switch self {
        case .u8: for index in 0..<count { samples[index] = Float(Int(bytes[index]) - 128) * 0x1p-7 }
        case .s8: for index in 0..<count { samples[index] = Float(Int8(bitPattern: bytes[index])) * 0x1p-7 }
        case .s16:
            for index in 0..<count {
                let sample = bytes.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self)
                samples[index] = Float(Int16(littleEndian: sample)) * 0x1p-15
            }
        case .s24:
            for index in 0..<count {
                let high = Int32(Int8(bitPattern: bytes[3 * index + 2])) << 16
                let sample = high | Int32(bytes[3 * index + 1]) << 8 | Int32(bytes[3 * index])
                samples[index] = Float(sample) * 0x1p-23
            }
        case .s24le32:
            for index in 0..<count {
                let sample = bytes.loadUnaligned(fromByteOffset: 4 * index, as: Int32.self)
                samples[index] = Float(Int32(littleEndian: sample) << 8) * 0x1p-31
            }
        case .s32:
            for index in 0..<count {
                let sample = bytes.loadUnaligned(fromByteOffset: 4 * index, as: Int32.self)
                samples[index] = Float(Int32(littleEndian: sample)) * 0x1p-31
            }
        case .f32:
            for index in 0..<count {
                let bits = bytes.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)
                samples[index] = Float(bitPattern: UInt32(littleEndian: bits))
            }
        case .f64:
            for index in 0..<count {
                let bits = bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
                samples[index] = Float(Double(bitPattern: UInt64(littleEndian: bits)))
            }
        }
        return count
    }
}
