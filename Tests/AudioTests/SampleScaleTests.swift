import CSndFile
import Synchronization
import TestSupport
import Testing

@testable import Audio

/// Layouts and scales that the header does not tell, or tells wrongly.
@Suite(.serialized) struct SampleScaleTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static let tone = Signals.sine(300, rate: 16_000, seconds: 1).map { $0 * 0.25 }

    /// WAV with samples of 4 bytes.
    private static func wave(bits: Int, _ samples: [Int32]) -> [UInt8] {
        let number = RealEndTests.little
        let size = 4 * samples.count
        return Array("RIFF".utf8) + number(size + 36, 4) + Array("WAVEfmt ".utf8) + number(16, 4) + number(1, 2)
            + number(1, 2) + number(16_000, 4) + number(64_000, 4) + number(4, 2) + number(bits, 2)
            + Array("data".utf8) + number(size, 4) + samples.flatMap { number(Int($0), 4) }
    }

    private func read(_ bytes: [UInt8]) throws -> [Float] {
        let (samples, error) = try AudioFileTests.read(try folder.write("x.wav", bytes: bytes))
        #expect(error == nil)
        // A pipe gives the same.
        for part in [1 << 20, 4097] {
            var blocks = try StreamBlocks(raw: nil, mix: .mix)
            var piped: [Float] = []
            func put(_ block: Span<Float>, _: Span<Float>) { for index in block.indices { piped.append(block[index]) } }
            for start in stride(from: 0, to: bytes.count, by: part) {
                try blocks.take(bytes[start..<min(start + part, bytes.count)], put)
            }
            try blocks.finish(put)
            #expect(Array(piped.prefix(samples.count)) == samples, "parts of \(part)")
        }
        return samples
    }

    @Test func `24 bits in 4 bytes are the low ones, whatever the highest byte holds`() throws {
        let samples = Self.tone.map { Int32(($0 * 0x1p23).rounded()) | 1 }
        let expected = samples.map { Float($0) * 0x1p-23 }
        #expect(try read(Self.wave(bits: 24, samples)) == expected)
        #expect(try read(Self.wave(bits: 24, samples.map { $0 & 0xFF_FFFF })) == expected)
        // Of 24 bits that are the high ones, the lowest byte is never used.
        #expect(try read(Self.wave(bits: 24, samples.map { $0 << 8 })) == expected)
    }

    @Test func `samples of 32 bits that lie within 24 are read as such`() throws {
        let samples = Self.tone.map { Int32(($0 * 0x1p23).rounded()) | 1 }
        let expected = samples.map { Float($0) * 0x1p-23 }
        #expect(try read(Self.wave(bits: 32, samples)) == expected)
        #expect(try read(Self.wave(bits: 32, [Int32](repeating: 0, count: 9000) + samples)).suffix(16_000) == expected)
        // These are 32 bits: loud; or quiet, from a converter of 24 bits.
        let loud = Self.tone.map { Int32(($0 * 0x1p31).rounded()) | 1 }
        #expect(try read(Self.wave(bits: 32, loud)) == loud.map { Float($0) * 0x1p-31 })
        let quiet = samples.map { ($0 >> 10) << 8 }
        #expect(try read(Self.wave(bits: 32, quiet)) == quiet.map { Float($0) * 0x1p-31 })
    }

    @Test func `16-bit values in 24 and 32 bits are read as 16, in every container`() throws {
        let voice = try Voices.samples("Front_Left").map { Float(Int16(sample: $0 * 0.2)) * 0x1p-15 }
        for (container, coding, unused) in [
            (SF_FORMAT_WAV, SF_FORMAT_PCM_24, 8), (SF_FORMAT_WAVEX, SF_FORMAT_PCM_32, 16),
            (SF_FORMAT_RF64, SF_FORMAT_PCM_24, 8), (SF_FORMAT_FLAC, SF_FORMAT_PCM_24, 8),
            (SF_FORMAT_AIFF, SF_FORMAT_PCM_24, 8), (SF_FORMAT_AIFF, SF_FORMAT_PCM_32, 16),
            (SF_FORMAT_CAF, SF_FORMAT_PCM_24, 8), (SF_FORMAT_CAF, SF_FORMAT_PCM_32, 16),
            (SF_FORMAT_W64, SF_FORMAT_PCM_32, 16), (SF_FORMAT_AU, SF_FORMAT_PCM_24, 8),
        ] {
            for unused in [0, 8, unused] {
                let gain = 1 / Float(1 << unused)
                let path = try folder.write("a", format: container | coding, rate: Voices.rate, voice.map { $0 * gain })
                let (samples, error) = try AudioFileTests.read(path)
                #expect(error == nil && samples == voice, "\(container | coding), \(unused) bits unused")
            }
        }
    }

    @Test(arguments: [0x1p15, 0x1p23, 0x1p31] as [Float]) func `whole numbers that were written as floats are scaled`(
        _ scale: Float
    ) throws {
        for format in [SF_FORMAT_FLOAT, SF_FORMAT_DOUBLE] {
            let silence = [Float](repeating: 0, count: 100_000)
            for samples in [Self.tone, silence + Self.tone] {
                try folder.write("a.wav", format: SF_FORMAT_WAV | format, samples.map { $0 * scale })
                let read = try read(try folder.bytes("a.wav"))
                #expect(Signals.snr(read, against: samples) > 100)
            }
        }
    }

    @Test func `floats that exceed full scale are not scaled, and pops are clipped`() throws {
        for gain: Float in [20, 45, 180] {
            let loud = Self.tone.map { $0 * gain }
            try folder.write("a.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, loud)
            #expect(try read(try folder.bytes("a.wav")) == loud.map { max(-8, min(8, $0)) }, "\(gain)")
        }
        for pop: Float in [8.1, 32_768, 1e9] {
            var spoilt = Self.tone
            for place in [0, 3, 7000, 15_999] { spoilt[place] = pop }
            try folder.write("a.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, spoilt)
            #expect(try read(try folder.bytes("a.wav")) == spoilt.map { min(8, $0) }, "\(pop)")
        }
    }

    @Test func `each wrong scale is one line that names the remedy`() throws {
        let lines = Mutex<[String]>([])
        AudioWarnings.send { line in lines.withLock { $0.append(line) } }
        let whole = Self.tone.map { ($0 * 32_768).rounded() }
        let path = try folder.write("a.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, whole)
        for _ in 0..<3 { _ = try FileBlocks.readClip(path: path, atMost: 9) }
        let low = try folder.write("b.wav", bytes: Self.wave(bits: 32, Self.tone.map { Int32($0 * 0x1p23) | 1 }))
        for _ in 0..<3 { _ = try FileBlocks.readClip(path: low, atMost: 9) }
        let told = lines.withLock { $0.filter { $0.contains(path) || $0.contains(low) } }
        #expect(told.count == 2, "\(told)")
        #expect(
            told.first?.contains("floats of up to ±32768, and not ±1") == true && told.last?.contains("s24le32") == true
        )
    }
}
