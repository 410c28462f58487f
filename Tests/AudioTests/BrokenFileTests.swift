import CSndFile
import Core
import Glibc
import TestSupport
import Testing

@testable import Audio

@Suite struct BrokenFileTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// The error that opening or reading ends with, after checking its message.
    func failure(_ path: String, says words: String..., sourceLocation: SourceLocation = #_sourceLocation)
        -> AudioError?
    {
        do {
            let (_, error) = try AudioFileTests.read(path)
            if let error { check(error, path, words, sourceLocation) }
            return error
        } catch let error as AudioError {
            check(error, path, words, sourceLocation)
            return error
        } catch {
            return nil
        }
    }

    private func check(_ error: AudioError, _ path: String, _ words: [String], _ location: SourceLocation) {
        let text = error.description
        print(text)
        #expect(!text.contains { $0.isNewline }, sourceLocation: location)
        #expect(text.contains("'\(path)'"), sourceLocation: location)
        for word in words { #expect(text.contains(word), sourceLocation: location) }
    }

    /// Half a second of quiet noise, which no coding compresses away.
    func noise(_ name: String, _ format: Int, rate: Int = 16_000, frames: Int = 8_000) throws -> [UInt8] {
        try folder.write(name, format: format, rate: rate, Signals.noise(count: frames, seed: 1))
        return try folder.bytes(name)
    }

    static let wav = SF_FORMAT_WAV | SF_FORMAT_PCM_16

    @Test func notThere() throws {
        #expect(failure(folder.file("none.wav"), says: "does not exist", "open: No such file") == .notFound)
        let path = try folder.write("a.wav", bytes: [1])
        #expect(failure(path + "/b.wav", says: "Not a directory") == .notFound)
        #expect(throws: AudioError.notFound) { _ = try AudioFile(path: "") }
        #expect(throws: AudioError.notFound) { _ = try AudioFile(path: "\(path)\0.wav") }
    }

    @Test func unreadable() {
        // Root may read every file, but a path of this length fails for root too.
        let path = "/tmp/" + String(repeating: "x", count: 300)
        #expect(failure(path, says: "cannot be opened", "File name too long") == .unreadable)
    }

    @Test(.enabled(if: geteuid() != 0, "root may read everything"))
    func noPermission() throws {
        let path = try folder.write("secret.wav", bytes: [1])
        chmod(path, 0)
        #expect(failure(path, says: "Permission denied") == .unreadable)
    }

    @Test func notRegular() throws {
        #expect(failure(folder.path, says: "is a directory") == .notRegularFile)
        #expect(failure("/dev/zero", says: "pipe or a device") == .notRegularFile)
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(failure(pipe, says: "pipe or a device") == .notRegularFile)
    }

    /// If libsndfile closed the descriptor, its owner would close it again, when it may belong to another thread.
    @Test func descriptorStaysWithItsOwner() throws {
        let bytes = try noise("whole.wav", Self.wav)
        for (name, content) in [("text.wav", Array("no audio".utf8)), ("cut.wav", Array(bytes.prefix(30)))] {
            let file = try RegularFile(path: try folder.write(name, bytes: content))
            #expect(throws: AudioError.self) { _ = try AudioPart.open(file, at: 0, path: name) }
            let descriptor = file.descriptor
            #expect(fcntl(descriptor, F_GETFD) >= 0, "\(name)")
        }
    }

    @Test func sampleDump() throws {
        let dump = try folder.write("dump.sds", bytes: [0xF0, 0x7E, 0, 1] + [UInt8](repeating: 0x20, count: 200))
        #expect(failure(dump, says: "MIDI sample dump") == .unsupported)
    }

    @Test func notAudio() throws {
        #expect(failure(try folder.write("empty.wav", bytes: []), says: "0 bytes") == .emptyFile)
        let text = try folder.write("text.wav", bytes: Array("This is not audio, whatever its name says.\n".utf8))
        #expect(failure(text, says: "not an audio file", "sf_open_virtual") == .notAudio)
        let bytes = try noise("a.wav", Self.wav)
        #expect(failure(try folder.write("cut.wav", bytes: Array(bytes.prefix(30)))) == .undecodable)
    }

    @Test func oddNamesStayOnOneLine() {
        let error = #expect(throws: AudioError.self) { _ = try AudioFile(path: "/tmp/a\n\u{1B}[2Jb.wav") }
        #expect(error?.description.contains("'/tmp/a??[2Jb.wav'") == true)
    }

    @Test func headerOnly() throws {
        let path = try folder.write("silent.wav", format: Self.wav, [])
        #expect(failure(path, says: "no audio") == .noAudio)
        let bytes = try noise("a.wav", Self.wav)
        #expect(failure(try folder.write("cut.wav", bytes: Array(bytes.prefix(44)))) == .noAudio)
    }

    @Test func outOfRange() throws {
        let slow = try folder.write("slow.wav", format: Self.wav, rate: 7_999, [0, 0])
        #expect(failure(slow, says: "7999 Hz", "8000 to 192000 Hz") == .unsupported)
        let fast = try folder.write("fast.wav", format: Self.wav, rate: 192_001, [0, 0])
        #expect(failure(fast, says: "192001 Hz") == .unsupported)
        let wide = try folder.write("wide.wav", format: Self.wav, channels: 9, [Float](repeating: 0, count: 18))
        #expect(throws: AudioError.unsupported) { _ = try FileBlocks(path: wide) }
        #expect(try FileBlocks.readClip(path: wide, atMost: 1, mix: .channel(8)) == [0, 0])
        let mono = try folder.write("mono.wav", format: Self.wav, [0, 0])
        #expect(throws: AudioError.noSuchChannel) { _ = try FileBlocks(path: mono, mix: .channel(1)) }
    }

    @Test(arguments: [Float.nan, .infinity, -.infinity]) func notFinite(value: Float) throws {
        for (name, format) in [("a.wav", SF_FORMAT_WAV), ("a.aiff", SF_FORMAT_AIFF), ("a.au", SF_FORMAT_AU)] {
            var samples = [Float](repeating: 0.25, count: 32_000)
            samples[2 * 12_345 + 1] = value
            let path = try folder.write(name, format: format | SF_FORMAT_FLOAT, channels: 2, samples)
            #expect(failure(path, says: "0.771 s", "channel 1") == .notFinite)
            #expect(try AudioFileTests.read(path).samples.count == 2 * 12_345, "what is sound comes first")
        }
    }

    /// Channels that are finite may add up to infinity, and the energy of a window may too.
    @Test(arguments: [3e38, -1e30, 0x1.000002p31] as [Float]) func tooLarge(value: Float) throws {
        var samples = [Float](repeating: 0.25, count: 32_000)
        samples[2 * 12_345] = value
        samples[2 * 12_345 + 1] = value
        let path = try folder.write("a.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, channels: 2, samples)
        #expect(failure(path, says: "a sample of \(value), far beyond ±1, at 0.771 s", "channel 0") == .notFinite)
    }

    /// A recorder may write faster than the file is read. What came after it was opened is not read, so reading ends.
    @Test func growingFile() throws {
        var bytes = try noise("a.rf64", SF_FORMAT_RF64 | SF_FORMAT_PCM_16, frames: 8_000)
        let sizes = try #require(bytes.firstIndex(of: UInt8(ascii: "d")))
        #expect(Array(bytes[sizes..<sizes + 4]) == Array("ds64".utf8))
        // A terabyte of audio.
        for (index, byte) in withUnsafeBytes(of: UInt64(1 << 40).littleEndian, Array.init).enumerated() {
            bytes[sizes + 16 + index] = byte
            bytes[sizes + 24 + index] = byte
        }
        let path = try folder.write("growing.rf64", bytes: bytes)
        var file = try AudioFile(path: path)
        var block = [Float](repeating: 0, count: 2_000)
        var total = 0
        let error = #expect(throws: AudioError.self) {
            // As often as fills a disk neither where reading does not end.
            for _ in 0..<200 where total < 1 << 20 {
                let end = open(path, O_WRONLY | O_APPEND)
                let more = [UInt8](repeating: 1, count: 64_000)
                #expect(write(end, more, more.count) == more.count)
                close(end)
                var span = block.mutableSpan
                total += try file.read(into: &span)
            }
        }
        #expect(error == .truncated)
        // What there was, and at most one read beyond it.
        #expect((8_000...12_000).contains(total), "\(total) frames")
    }

    struct Container: Sendable, CustomTestStringConvertible {
        var name: String
        var format: Int
        var rate = 16_000
        var testDescription: String { name }
    }

    static let containers = [
        Container(name: "pcm.wav", format: wav),
        Container(name: "float.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT),
        Container(name: "adpcm.wav", format: SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM),
        Container(name: "long.rf64", format: SF_FORMAT_RF64 | SF_FORMAT_PCM_16),
        Container(name: "a.w64", format: SF_FORMAT_W64 | SF_FORMAT_PCM_16),
        Container(name: "a.aiff", format: SF_FORMAT_AIFF | SF_FORMAT_PCM_16),
        Container(name: "a.au", format: SF_FORMAT_AU | SF_FORMAT_PCM_16),
        Container(name: "a.caf", format: SF_FORMAT_CAF | SF_FORMAT_PCM_16),
        Container(name: "a.flac", format: SF_FORMAT_FLAC | SF_FORMAT_PCM_16),
        Container(name: "a.ogg", format: SF_FORMAT_OGG | SF_FORMAT_VORBIS),
        Container(name: "a.opus", format: SF_FORMAT_OGG | SF_FORMAT_OPUS, rate: 48_000),
    ]

    /// A file cut at any position must not be read as a whole one.
    @Test(arguments: containers) func cutAnywhere(container: Container) throws {
        let bytes = try noise(container.name, container.format, rate: container.rate, frames: container.rate)
        let whole = try AudioFileTests.read(folder.file(container.name))
        #expect(whole.error == nil)
        var random = SplitMix(seed: UInt64(bytes.count))
        for percent in [3, 20, 50, 75, 97] {
            let cut = max(1, bytes.count * percent / 100 - random.below(64))
            let path = try folder.write("cut-\(container.name)", bytes: Array(bytes.prefix(cut)))
            do {
                let (samples, error) = try AudioFileTests.read(path)
                #expect(error == .truncated, "\(cut) of \(bytes.count) bytes: \(String(describing: error))")
                #expect(samples.count <= whole.samples.count)
                if percent == 75, let error { print(error) }
            } catch let error as AudioError {
                #expect(error == .undecodable || error == .notAudio || error == .noAudio, "\(error)")
            }
        }
    }

    @Test func soundPartComesFirst() throws {
        let bytes = try noise("a.wav", Self.wav, rate: 48_000, frames: 48_000)
        let path = try folder.write("cut.wav", bytes: Array(bytes.prefix(44 + 2 * 30_000)))
        #expect(failure(path, says: "after 0.625 s", "96000 bytes", "36000 are missing") == .truncated)
        var blocks = try FileBlocks(path: path)
        var block = [Float](repeating: 0, count: AudioFormat.hopSamples)
        var counts: [Int] = []
        let error = #expect(throws: AudioError.self) {
            var span = block.mutableSpan
            while let count = try blocks.next(into: &span) { counts.append(count) }
        }
        #expect(error == .truncated)
        #expect(counts == [1600, 1600, 1600, 1600, 1600, 1600, 400])
        #expect(throws: AudioError.truncated) {
            var span = block.mutableSpan
            _ = try blocks.next(into: &span)
        }
        #expect(try FileBlocks.readClip(path: path, atMost: 0.5).count == 8_000, "damage beyond the limit is not read")
    }

    /// Recorders that write to a pipe leave such sizes in the header; the audio is complete.
    @Test(arguments: [0xFFFF_FFFF, 0x7FFF_FFFF, 0x8000_0000, 0x7FFF_F000] as [UInt32])
    func streamedSizeIsNoPromise(size: UInt32) throws {
        var bytes = try noise("a.wav", Self.wav)
        for index in 0..<4 {
            bytes[4 + index] = UInt8(truncatingIfNeeded: size >> UInt32(8 * index))
            bytes[40 + index] = UInt8(truncatingIfNeeded: size >> UInt32(8 * index))
        }
        let (samples, error) = try AudioFileTests.read(try folder.write("stream.wav", bytes: bytes))
        #expect(error == nil)
        #expect(samples.count == 8_000)
    }

    /// A WAV file in which a chunk `LIST` comes before the audio; libsndfile 1.2 never returns from some of these.
    private func listed(_ parts: [(name: String, size: UInt32?)], form: String = "RIFF", shift: Int = 0) throws
        -> String
    {
        func bytes(_ number: UInt32) -> [UInt8] {
            let little = (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
            return form == "RIFX" ? little.reversed() : little
        }
        let list =
            Array("INFO".utf8) + parts.flatMap { Array($0.name.utf8) + ($0.size.map(bytes) ?? []) }
            + [UInt8](repeating: 0, count: 40)
        let chunk = Array("LIST".utf8) + bytes(UInt32(list.count)) + list
        let format =
            Array("fmt ".utf8) + bytes(16) + (form == "RIFX" ? [0, 1, 0, 1] : [1, 0, 1, 0]) + bytes(16_000)
            + bytes(32_000) + (form == "RIFX" ? [0, 2, 0, 16] : [2, 0, 16, 0])
        let audio = Array("data".utf8) + bytes(3200) + [UInt8](repeating: 0, count: 3200)
        let junk = [UInt8](repeating: 0xFF, count: shift)
        let content = Array("WAVE".utf8) + format + junk + chunk + audio
        return try folder.write("listed.wav", bytes: Array(form.utf8) + bytes(UInt32(content.count)) + content)
    }

    @Test func endlessList() throws {
        // Back to the first part, after zero or more others.
        let endless: [[(String, UInt32?)]] = [
            [("abcd", 0xFFFF_FFF4)], [("abcd", 0), ("ijkl", 0), ("efgh", 0xFFFF_FFE4)], [("abcd", 0xFFFF_FFF3)],
            [("exif", nil), ("abcd", 0xFFFF_FF00)],
        ]
        for parts in endless {
            for (form, shift) in [("RIFF", 0), ("RIFX", 0), ("RIFF", 3), ("RIFF", 1 << 20)] {
                let path = try listed(parts, form: form, shift: shift)
                #expect(failure(path, says: "LIST") == .undecodable, "\(parts), \(form), \(shift)")
            }
        }
        // Other damage to a list does not matter: the audio is there.
        let harmless: [[(String, UInt32?)]] = [
            [("abcd", 4)], [("abcd", 0xFFFF_FF00)], [("abcd", 0x8000_0000)], [("INAM", 0xFFFF_FF00)], [],
        ]
        for parts in harmless {
            let (samples, error) = try AudioFileTests.read(try listed(parts))
            #expect(error == nil && samples.count == 1600, "\(parts)")
        }
    }
}
