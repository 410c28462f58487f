import CFLAC
import CSndFile
import Glibc
import TestSupport
import Testing

@testable import Audio

/// Audio is read to the end of its bytes, whatever the header declares, and bytes that are not audio are an error.
@Suite struct RealEndTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A tone that fills its scale, so that it is the same in all layouts.
    static let tone = Signals.sine(440, rate: 16_000, seconds: 1)

    private func write(_ name: String, _ format: Int, _ samples: [Float] = tone, rate: Int = 16_000) throws -> [UInt8] {
        try folder.write(name, format: format, rate: rate, samples)
        return try folder.bytes(name)
    }

    private func read(_ bytes: [UInt8], _ name: String = "x") throws -> (samples: [Float], error: AudioError?) {
        try AudioFileTests.read(try folder.write(name, bytes: bytes))
    }

    /// Replaces the bytes at the first place of a text, `offset` bytes behind it.
    private func patch(_ bytes: inout [UInt8], _ text: String, _ offset: Int, _ new: [UInt8]) throws {
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: text.utf8) })
        for (index, byte) in new.enumerated() { bytes[place + offset + index] = byte }
    }

    static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    static func big(_ value: Int, _ count: Int) -> [UInt8] { little(value, count).reversed() }

    @Test func `a size that was never written is not an end`() throws {
        let wav = try write("a.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16)
        let rf64 = try write("a.rf64", SF_FORMAT_RF64 | SF_FORMAT_PCM_16)
        let aiff = try write("a.aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_16)
        let caf = try write("a.caf", SF_FORMAT_CAF | SF_FORMAT_PCM_16)
        let w64 = try write("a.w64", SF_FORMAT_W64 | SF_FORMAT_PCM_16)
        let au = try write("a.au", SF_FORMAT_AU | SF_FORMAT_PCM_16)
        let whole = try read(wav).samples
        #expect(whole.count == 16_000)
        var files: [(String, [UInt8])] = []
        for size in [0, 0x7FFF_F000, 0x8000_0000, 0xFFFF_FFFF] {
            var bytes = wav
            try patch(&bytes, "RIFF", 4, Self.little(size == 0 ? 36 : size, 4))
            try patch(&bytes, "data", 4, Self.little(size, 4))
            files.append(("WAV of \(size)", bytes))
        }
        for size in [0, -1] {
            var bytes = rf64
            for place in [8, 16, 24] { try patch(&bytes, "ds64", place, Self.little(size, 8)) }
            files.append(("RF64 of \(size)", bytes))
        }
        for size in [0, 0x7F00_0000, 0xFFFF_FFFF] {
            var bytes = aiff
            try patch(&bytes, "FORM", 4, Self.big(size, 4))
            try patch(&bytes, "COMM", 10, Self.big(size / 2, 4))
            try patch(&bytes, "SSND", 4, Self.big(size, 4))
            files.append(("AIFF of \(size)", bytes))
        }
        for size in [0, -1] {
            var bytes = caf
            try patch(&bytes, "data", 4, Self.big(size, 8))
            files.append(("CAF of \(size)", bytes))
            bytes = w64
            try patch(&bytes, "data", 16, Self.little(size, 8))
            files.append(("W64 of \(size)", bytes))
            bytes = au
            try patch(&bytes, ".snd", 8, Self.big(size, 4))
            files.append(("AU of \(size)", bytes))
        }
        for (name, bytes) in files {
            let (samples, error) = try read(bytes)
            #expect(error == nil && samples == whole, "\(name): \(samples.count) samples, \(String(describing: error))")
        }
    }

    @Test func `what a recorder wrote after its header is audio`() throws {
        let wav = try write("a.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16)
        let whole = try read(wav).samples
        // The sizes of the first buffer.
        var bytes = wav
        try patch(&bytes, "RIFF", 4, Self.little(8192 + 36, 4))
        try patch(&bytes, "data", 4, Self.little(8192, 4))
        let (samples, error) = try read(bytes)
        #expect(samples == whole && error == nil)
        // Mu-law and ADPCM are decoded by libsndfile.
        for format in [SF_FORMAT_ULAW, SF_FORMAT_IMA_ADPCM] {
            var bytes = try write("b.wav", SF_FORMAT_WAV | format)
            let whole = try read(bytes).samples
            try patch(&bytes, "data", 4, Self.little(1024, 4))
            let (samples, error) = try read(bytes)
            #expect(
                error == nil && samples.prefix(15_000) == whole.prefix(15_000),
                "\(samples.count) of \(whole.count)"
            )
        }
        // Sizes that wrapped around at 4 GiB: a file with a hole.
        bytes = wav
        let count = 1 << 32 + 16_000
        try patch(&bytes, "data", 4, Self.little(count, 4))
        let path = try folder.write("long.wav", bytes: bytes)
        #expect(truncate(path, 44 + count) == 0)
        let file = try RegularFile(path: path)
        let container = Container(file, at: 0)
        #expect(container?.audio == 44..<44 + count && container?.isSurplusDoubtful == false)
    }

    @Test func `bytes that are not audio are an error after the audio`() throws {
        var random = SplitMix(seed: 5)
        let trash = (0..<3000).map { _ in UInt8.random(in: 1..<0x80, using: &random) }
        for (name, format) in Self.joinable {
            let bytes = try write(name, format)
            let whole = try read(bytes)
            #expect(whole.error == nil)
            let (samples, error) = try read(bytes + trash)
            #expect(
                error == .leftover && error?.description.contains("from byte") == true,
                "\(name): \(String(describing: error))"
            )
            #expect(samples.count >= whole.samples.count && samples.starts(with: whole.samples), "\(name)")
        }
        // Between pages.
        let ogg = try write("a.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS)
        let last = try #require(ogg.indices.last { ogg[$0...].starts(with: "OggS".utf8) })
        #expect(try read(Array(ogg[..<last]) + trash + ogg[last...]).error == .leftover)
    }

    private static let joinable = [
        ("a.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16), ("a.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16),
        ("a.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS), ("a.opus", SF_FORMAT_OGG | SF_FORMAT_OPUS),
        ("a.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III), ("a.aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_16),
        ("a.caf", SF_FORMAT_CAF | SF_FORMAT_PCM_16), ("a.w64", SF_FORMAT_W64 | SF_FORMAT_PCM_16),
    ]

    @Test func `joined files and chained streams are read one after the other`() throws {
        for (name, format) in Self.joinable {
            let (one, two) = (try write("1-\(name)", format), try write("2-\(name)", format, Self.tone.reversed()))
            let parts = [try read(one), try read(two)].map(\.samples)
            let (samples, error) = try read(one + two)
            #expect(error == nil, "\(name): \(String(describing: error))")
            if name != "a.mp3" { #expect(samples == parts[0] + parts[1], "\(name)") }
            // The second of two MP3 files begins with what its encoder put in front.
            #expect(samples.count >= parts[0].count + parts[1].count, "\(name)")
            // The same serial number, as `cat a.ogg a.ogg` makes.
            #expect(try read(one + one).samples.count >= 2 * parts[0].count, "\(name)")
        }
    }

    @Test func `joined audio of another format says where it begins`() throws {
        for (name, format) in Self.joinable where name != "a.opus" {
            let one = try write("1-\(name)", format)
            let two = try write("2-\(name)", format, rate: 44_100)
            let (samples, error) = try read(one + two)
            #expect(error == .unsupported, "\(name): \(String(describing: error))")
            #expect(
                error?.description.contains("continues with other audio from byte") == true && samples.count >= 16_000
            )
        }
    }

    @Test func `tags, chunks and padding behind the audio are not audio`() throws {
        let id3v1 = Array("TAG".utf8) + [UInt8](repeating: 65, count: 125)
        let id3v2 = Array("ID3".utf8) + [4, 0, 0, 0, 0, 1, 5] + [UInt8](repeating: 66, count: 133)
        let ape =
            Array("APETAGEX".utf8) + Self.little(2000, 4) + Self.little(32 + 10, 4) + Self.little(1, 4)
            + Self.little(0xA000_0000, 4) + [UInt8](repeating: 0, count: 8)
        let apeEnd =
            [UInt8](repeating: 67, count: 10) + Array("APETAGEX".utf8) + Self.little(2000, 4)
            + Self.little(42, 4) + Self.little(1, 4) + Self.little(0x8000_0000, 4) + [UInt8](repeating: 0, count: 8)
        let zeros = [UInt8](repeating: 0, count: 5000)
        for (name, format) in Self.joinable {
            let bytes = try write(name, format)
            let whole = try read(bytes).samples
            for (index, tag) in [id3v1, id3v2, zeros, ape + apeEnd, id3v2 + zeros + id3v1].enumerated() {
                let (samples, error) = try read(bytes + tag)
                #expect(error == nil && samples == whole, "\(name), tag \(index): \(String(describing: error))")
            }
        }
        let wav = try write("a.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16)
        let chunk = Array("LIST".utf8) + Self.little(5, 4) + Array("INFOx".utf8) + [0]
        let id3 = Array("id3 ".utf8) + Self.little(4, 4) + [1, 2, 3, 4]
        // The last one is cut, as tags of interrupted copies are.
        for tail in [chunk, id3 + chunk, chunk + id3v1, Array(chunk.dropLast(3))] {
            let (samples, error) = try read(wav + tail)
            #expect(error == nil && samples.count == 16_000)
        }
        #expect(try read(wav + chunk + Array("trash and more".utf8)).error == .leftover)
    }

    @Test func `MPEG audio without a header of its length is read whole, and a cut frame is an error`() throws {
        let mp3 = try write("a.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III)
        let whole = try read(mp3)
        #expect(whole.error == nil && abs(whole.samples.count - 16_000) <= 3 * 1152, "\(whole.samples.count)")
        #expect(try read(Array(mp3.dropLast(10))).error != nil)
        // Each of the first frames is dropped in turn: the file then begins with another one.
        let starts = mp3.indices.filter {
            Magic.isFrame(mp3[$0...].prefix(4)) && mp3[$0] == 0xFF && mp3[$0 + 1] == mp3[0 + 1]
        }
        let second = try #require(starts.dropFirst().first { $0 > 40 })
        let (samples, error) = try read(Array(mp3[second...]))
        #expect(error == nil && samples.count > 12_000, "\(samples.count) samples, \(String(describing: error))")
    }

    @Test func `tags, padding and trash in front of the audio are passed over, as players do`() throws {
        var random = SplitMix(seed: 9)
        // No sync word is in it, and no magic.
        let trash = (0..<100_000).map { _ in UInt8.random(in: 1..<0xF0, using: &random) }
        func id3(_ count: Int, says size: Int? = nil) -> [UInt8] {
            let size = size ?? count
            let bytes = (0..<4).map { UInt8(size >> (7 * (3 - $0)) & 0x7F) }
            return Array("ID3".utf8) + [4, 0, 0] + bytes + [UInt8](repeating: 66, count: count)
        }
        let zeros = [UInt8](repeating: 0, count: 4096)
        let mp3 = try write("a.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III)
        let whole = try read(mp3).samples
        let heads: [(name: String, bytes: [UInt8])] = [
            ("two tags", id3(100) + id3(200)), ("zeros", id3(100) + zeros), ("zeros alone", zeros), ("a zero", [0]),
            ("zeros between tags", id3(100) + zeros + id3(5) + zeros), ("trash", id3(100) + trash),
            ("trash alone", Array(trash.prefix(5000))), ("a size that is too small", id3(9000, says: 50)),
            ("a size beyond the file", id3(100, says: 100_000_000)),
            // A sync word alone is no frame.
            ("a sync word", id3(100) + [0xFF, 0xFB, 0x90, 0x64] + Array(trash.prefix(3000))),
        ]
        for (name, head) in heads {
            let (samples, error) = try read(head + mp3)
            #expect(error == nil && samples == whole, "\(name): \(samples.count), \(String(describing: error))")
        }
        // Other kinds have no sync word to search for.
        for (name, format) in Self.joinable where name != "a.mp3" {
            let bytes = try write(name, format)
            let whole = try read(bytes).samples
            for head in [id3(100), id3(100) + zeros, zeros, id3(3) + id3(4)] {
                let (samples, error) = try read(head + bytes)
                #expect(error == nil && samples == whole, "\(name)")
            }
        }
        #expect(throws: AudioError.notAudio) { try read(id3(100) + trash) }
    }

    /// The functions of libFLAC that write.
    private struct Encoders {
        typealias Encoder = UnsafeMutablePointer<FLAC__StreamEncoder>
        typealias Number = @convention(c) (Encoder, UInt32) -> FLAC__bool
        let make: @convention(c) () -> Encoder?
        let delete: @convention(c) (Encoder) -> Void
        let (setRate, setChannels, setBits): (Number, Number, Number)
        let setSerial: @convention(c) (Encoder, CLong) -> FLAC__bool
        let open:
            @convention(c) (Encoder, UnsafePointer<CChar>, UnsafeRawPointer?, UnsafeRawPointer?) ->
                FLAC__StreamEncoderInitStatus
        let process: @convention(c) (Encoder, UnsafePointer<Int32>, UInt32) -> FLAC__bool
        let finish: @convention(c) (Encoder) -> FLAC__bool

        init() throws {
            #expect(CFLAC_load())
            func find<Function>(_ name: String) throws -> Function {
                unsafeBitCast(try #require(CFLAC_find("FLAC__stream_encoder_" + name)), to: Function.self)
            }
            (make, delete) = (try find("new"), try find("delete"))
            (setRate, setChannels) = (try find("set_sample_rate"), try find("set_channels"))
            (setBits, setSerial) = (try find("set_bits_per_sample"), try find("set_ogg_serial_number"))
            (open, process) = (try find("init_ogg_file"), try find("process_interleaved"))
            finish = try find("finish")
        }
    }

    @Test func `FLAC in Ogg is decoded, also chained`() throws {
        let encoders = try Encoders()
        func ogg(_ name: String, serial: Int, _ samples: [Float]) throws -> [UInt8] {
            let path = folder.file(name)
            let encoder = try #require(encoders.make())
            defer { encoders.delete(encoder) }
            _ = encoders.setRate(encoder, 16_000)
            _ = encoders.setChannels(encoder, 1)
            _ = encoders.setBits(encoder, 16)
            _ = encoders.setSerial(encoder, serial)
            #expect(encoders.open(encoder, path, nil, nil) == FLAC__STREAM_ENCODER_INIT_STATUS_OK)
            let whole = samples.map { Int32(Int16(sample: $0)) }
            #expect(encoders.process(encoder, whole, UInt32(whole.count)) != 0)
            #expect(encoders.finish(encoder) != 0)
            return try folder.bytes(name)
        }
        let (one, two) = (try ogg("1.oga", serial: 1, Self.tone), try ogg("2.oga", serial: 2, Self.tone.reversed()))
        let wav = try read(try write("a.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16)).samples
        let (samples, error) = try read(one)
        #expect(error == nil && samples.count == 16_000 && Signals.snr(samples, against: wav) > 80)
        #expect(try AudioFile(path: folder.file("1.oga")).format == "Ogg FLAC")
        let both = try read(one + two)
        #expect(both.error == nil && both.samples.count == 32_000)
        #expect(try read(Array(one.dropLast(one.count / 3))).error == .truncated)
    }

    @Test func `FLAC that was written to a pipe does not know its length`() throws {
        var flac = try write("a.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16)
        let whole = try read(flac).samples
        // The number of samples has 36 bits, from the middle of byte 21 on.
        flac[21] &= 0xF0
        for index in 22..<26 { flac[index] = 0 }
        let (samples, error) = try read(flac)
        #expect(error == nil && samples == whole)
        #expect(try read(Array(flac.dropLast(20))).error != nil)
    }
}
