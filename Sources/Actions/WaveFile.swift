/// A WAV file of one channel of 16-bit samples.
public enum WaveFile {
    /// The whole file.
    static func bytes(_ samples: [Float], sampleRate: Int) -> [UInt8] {
        header(samples: samples.count, sampleRate: sampleRate) + data(samples)
    }

    /// What stands before the samples, 44 bytes.
    public static func header(samples: Int, sampleRate: Int) -> [UInt8] {
        let size = UInt32(clamping: samples * 2)
        var bytes: [UInt8] = []
        func add<Number: FixedWidthInteger>(_ number: Number) {
            withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
        }
        bytes += Array("RIFF".utf8)
        add(UInt32(clamping: 36 + samples * 2))
        bytes += Array("WAVEfmt ".utf8)
        add(UInt32(16))
        add(UInt16(1))
        add(UInt16(1))
        add(UInt32(sampleRate))
        add(UInt32(sampleRate * 2))
        add(UInt16(2))
        add(UInt16(16))
        bytes += Array("data".utf8)
        add(size)
        return bytes
    }

    /// The samples, in [−1, 1]; louder ones are clipped, and what is no number is silence.
    public static func data(_ samples: [Float]) -> [UInt8] {
        samples.flatMap { sample in
            let scaled = sample.isNaN ? 0 : (sample * 32_768).rounded()
            let value = UInt16(bitPattern: Int16(max(-32_768, min(32_767, scaled))))
            return [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)]
        }
    }
}
