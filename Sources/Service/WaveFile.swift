/// A WAV file of one channel of 16-bit samples.
enum WaveFile {
    /// - Parameter samples: in [−1, 1]; louder ones are clipped, and what is no number is silence.
    static func bytes(_ samples: [Float], sampleRate: Int) -> [UInt8] {
        let size = UInt32(samples.count * 2)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(44 + Int(size))
        func add<Number: FixedWidthInteger>(_ number: Number) {
            withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
        }
        bytes += Array("RIFF".utf8)
        add(36 + size)
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
        for sample in samples {
            let scaled = sample.isNaN ? 0 : (sample * 32_768).rounded()
            add(Int16(max(-32_768, min(32_767, scaled))))
        }
        return bytes
    }
}
