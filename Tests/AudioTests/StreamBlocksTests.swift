import CSndFile
import Core
import Foundation
import TestSupport
import Testing

@testable import Audio

/// Audio that arrives as bytes: header, formats, parts of any size.
struct StreamBlocksTests {
    private static let voice = "/usr/share/sounds/alsa/Front_Left.wav"

    /// All samples that blocks give of bytes in parts.
    private static func samples(
        _ bytes: [UInt8],
        raw: RawFormat? = nil,
        mix: ChannelMix = .mix,
        part: Int = 4096
    ) throws -> [Float] {
        var blocks = try StreamBlocks(raw: raw, mix: mix)
        var samples: [Float] = []
        func put(_ block: Span<Float>) { for index in block.indices { samples.append(block[index]) } }
        for start in stride(from: 0, to: bytes.count, by: part) {
            try blocks.take(bytes[start..<min(start + part, bytes.count)]) { block, _ in put(block) }
        }
        try blocks.finish { block, _ in put(block) }
        #expect(blocks.samples <= samples.count && samples.count < blocks.samples + 1600)
        return Array(samples.prefix(blocks.samples))
    }

    @Test(arguments: [1, 7, 1000, 1 << 20])
    func `the samples are those of the file, whatever the parts`(_ part: Int) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Self.voice)))
        #expect(try Self.samples(bytes, part: part) == FileBlocks.readClip(path: Self.voice, atMost: 100))
    }

    @Test func `every format gives the samples of the same file`() throws {
        let folder = try TestFolder()
        let voice = try FileBlocks.readClip(path: Self.voice, atMost: 1)
        for (index, row) in [
            (SF_FORMAT_PCM_U8, 1, "u8"), (SF_FORMAT_PCM_16, 2, "s16"), (SF_FORMAT_PCM_24, 1, "s24"),
            (SF_FORMAT_PCM_32, 3, "s32"), (SF_FORMAT_FLOAT, 1, "f32"),
        ].enumerated() {
            let all = voice.flatMap { Array(repeating: $0, count: row.1) }
            for container in [SF_FORMAT_WAV, SF_FORMAT_WAVEX, SF_FORMAT_RF64] {
                let path = try folder.write(
                    "\(index)-\(container)",
                    format: container | row.0,
                    rate: 44_100,
                    channels: row.1,
                    all
                )
                let bytes = try folder.bytes("\(index)-\(container)")
                #expect(try Self.samples(bytes) == FileBlocks.readClip(path: path, atMost: 100), "\(row.2)")
            }
            let path = try folder.write(
                "\(index).wav",
                format: SF_FORMAT_WAV | row.0,
                rate: 44_100,
                channels: row.1,
                all
            )
            try folder.write(
                "\(index)",
                format: SF_FORMAT_RAW | SF_ENDIAN_LITTLE | row.0,
                rate: 44_100,
                channels: row.1,
                all
            )
            let raw = try #require(RawFormat("44100,\(row.1),\(row.2)"))
            #expect(
                try Self.samples(try folder.bytes("\(index)"), raw: raw, part: 999)
                    == FileBlocks.readClip(path: path, atMost: 100)
            )
        }
    }

    /// The error that `body` throws, as its text; empty for none.
    private static func failure(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch {
            return "\(error)"
        }
    }

    /// A header with these fields, and a second of silence.
    private static func wave(
        tag: Int = 1,
        channels: Int = 1,
        rate: Int = 16_000,
        bits: Int = 16,
        size: Int = 32_000,
        before: [UInt8] = []
    ) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let frame = channels * bits / 8
        return Array("RIFF".utf8) + number(size, 4) + Array("WAVE".utf8) + before + Array("fmt ".utf8) + number(16, 4)
            + number(tag, 2) + number(channels, 2) + number(rate, 4) + number(rate * frame, 4) + number(frame, 2)
            + number(bits, 2) + Array("data".utf8) + number(size, 4) + [UInt8](repeating: 0, count: 32_000)
    }

    @Test func `a size that the writer did not know is not an end`() throws {
        for size in [0, 0x7FFF_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] {
            #expect(try Self.samples(Self.wave(size: size)).count == 16_000, "\(size)")
        }
        // What follows the audio, and is not a chunk, is audio: a recorder was stopped.
        #expect(try Self.samples(Self.wave(size: 16_000)).count == 16_000)
        // An odd chunk before the format has a byte of padding.
        let odd = Array("LIST".utf8) + [5, 0, 0, 0, 1, 2, 3, 4, 5, 0]
        #expect(try Self.samples(Self.wave(before: odd)).count == 16_000)
    }

    @Test func `audio that ends early tells how much is missing`() throws {
        var blocks = try StreamBlocks(raw: nil, mix: .mix)
        try blocks.take(Self.wave(size: 96_000)[...]) { _, _ in }
        let error = #expect(throws: AudioError.truncated) { try blocks.finish { _, _ in } }
        #expect(error?.description.contains("2.00 s that its header promises are missing") == true)
    }

    @Test func `wrong bytes are one line that says what to do`() throws {
        let table: [(bytes: [UInt8], says: String)] = [
            ([], "standard input is empty; pipe audio"), (Array("RIFF".utf8), "ends within its header"),
            (Array("hello, world, this is text\n".utf8), "has no WAV header; send WAV, or give the format"),
            (Array("fLaC\0\0\0\u{22}".utf8), "is FLAC; send WAV"), (Array("OggS\0\u{2}".utf8), "is Ogg; send WAV"),
            (Array("RIFF\0\0\0\0AVI LIST".utf8), "has no WAV header"),
            (Self.wave(tag: 85), "WAV of kind 85 with 16 bits"),
            (Self.wave(bits: 12), "WAV of kind 1 with 12 bits"), (Self.wave(rate: 4000), "has 4000 Hz"),
            (Self.wave(channels: 9), "has 9 channels, and up to 8 are mixed; choose some"),
            (Self.wave(channels: 65), "channels: 65"), (Self.wave(channels: 0), "channels: 0"),
            (Array(Self.wave().prefix(12)) + Array("data".utf8) + [0, 0, 0, 0], "without its format"),
            (Array(Self.wave().prefix(12)) + Array("junk".utf8) + [0, 0, 0, 0x7F], "ends within its header"),
        ]
        for row in table {
            let message = Self.failure { _ = try Self.samples(row.bytes) }
            #expect(message.contains(row.says) && !message.contains("\n"), "\(message)")
        }
        let raw = try #require(RawFormat("16000,1,f32"))
        let message = Self.failure { _ = try Self.samples([0, 0, 0xC0, 0x7F], raw: raw) }
        #expect(message.contains("a sample that is not a usable number at 0.000 s; is its format right?"), "\(message)")
        #expect(throws: AudioError.noSuchChannel) { try Self.samples(Self.wave(), mix: .channel(1)) }
        // Nothing that a header says makes it fail in another way.
        var random = SplitMix(seed: 4)
        for _ in 0..<2000 {
            var bytes = Array(Self.wave().prefix(200))
            for _ in 0..<3 { bytes[Int.random(in: 0..<60, using: &random)] = UInt8.random(in: 0...255, using: &random) }
            do { _ = try Self.samples(bytes, part: 11) } catch { #expect(error is AudioError) }
        }
    }
}
