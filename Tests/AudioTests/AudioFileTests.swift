import Audio
import CSndFile
import Core
import Glibc
import TestSupport
import Testing

@Suite struct AudioFileTests {
    /// A coding, its expected name, and the least SNR against the original, in dB.
    struct Coding: Sendable, CustomTestStringConvertible {
        var file: String
        var format: Int
        var name: String
        var snr: Double
        var rate = 48_000
        var testDescription: String { name }
    }

    static let codings = [
        Coding(file: "a.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_U8, name: "WAV 8-bit", snr: 20),
        Coding(file: "b.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, name: "WAV 16-bit", snr: 70),
        Coding(file: "c.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_24, name: "WAV 24-bit", snr: 120),
        Coding(file: "d.wav", format: SF_FORMAT_WAVEX | SF_FORMAT_PCM_32, name: "WAV 32-bit", snr: 140),
        Coding(file: "e.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, name: "WAV float", snr: 200),
        Coding(file: "f.wav", format: SF_FORMAT_RF64 | SF_FORMAT_PCM_16, name: "RF64 16-bit", snr: 70),
        Coding(file: "g.wav", format: SF_FORMAT_WAV | SF_FORMAT_ULAW, name: "WAV µ-law", snr: 25),
        Coding(file: "h.aiff", format: SF_FORMAT_AIFF | SF_FORMAT_PCM_24, name: "AIFF 24-bit", snr: 120),
        Coding(file: "i.au", format: SF_FORMAT_AU | SF_FORMAT_PCM_16, name: "AU 16-bit", snr: 70),
        Coding(file: "j.caf", format: SF_FORMAT_CAF | SF_FORMAT_PCM_16, name: "CAF 16-bit", snr: 70),
        Coding(file: "k.w64", format: SF_FORMAT_W64 | SF_FORMAT_PCM_16, name: "W64 16-bit", snr: 70),
        Coding(file: "l.flac", format: SF_FORMAT_FLAC | SF_FORMAT_PCM_16, name: "FLAC 16-bit", snr: 70),
        Coding(file: "m.flac", format: SF_FORMAT_FLAC | SF_FORMAT_PCM_24, name: "FLAC 24-bit", snr: 120),
        Coding(file: "n.ogg", format: SF_FORMAT_OGG | SF_FORMAT_VORBIS, name: "Ogg Vorbis", snr: 15),
        Coding(file: "o.opus", format: SF_FORMAT_OGG | SF_FORMAT_OPUS, name: "Ogg Opus", snr: 15),
    ]

    /// Reads a whole file, `piece` frames at a time; returns the error that ended reading, if any.
    static func read(_ path: String, piece: Int = 1_000) throws -> (samples: [Float], error: AudioError?) {
        var file = try AudioFile(path: path)
        var room = [Float](repeating: 0, count: piece * file.channels)
        var samples: [Float] = []
        do throws(AudioError) {
            while true {
                var span = room.mutableSpan
                let frames = try file.read(into: &span)
                if frames == 0 { return (samples, nil) }
                samples += room.prefix(frames * file.channels)
            }
        } catch {
            return (samples, error)
        }
    }

    static let voice = "/usr/share/sounds/alsa/Front_Center.wav"
    static let hasVoice = access(voice, R_OK) == 0

    @Test(.enabled(if: hasVoice, "needs the voices of alsa-utils"), arguments: codings)
    func decodesVoice(coding: Coding) throws {
        let folder = try TestFolder()
        let original = Array(try Self.read(Self.voice).samples.prefix(40_000))
        let path = try folder.write(coding.file, format: coding.format, rate: coding.rate, original)
        let file = try AudioFile(path: path)
        #expect(file.format == coding.name)
        #expect(file.sampleRate == coding.rate)
        #expect(file.channels == 1)
        #expect(file.frames == original.count)
        let (samples, error) = try Self.read(path)
        #expect(error == nil)
        #expect(samples.count == original.count)
        let snr = Signals.snr(samples, against: original)
        print("\(coding.name): \(Signals.cell(snr, width: 0)) dB")
        #expect(snr >= coding.snr)
    }

    /// All audio of a short clip is on the last page of its Ogg stream.
    @Test(arguments: [SF_FORMAT_OPUS, SF_FORMAT_VORBIS], [400, 8_000, 16_000])
    func shortOggClipsAreWhole(coding: Int, frames: Int) throws {
        let folder = try TestFolder()
        let tone = Signals.sine(1_000, rate: 16_000, seconds: Double(frames) / 16_000)
        let path = try folder.write("clip.ogg", format: SF_FORMAT_OGG | coding, rate: 16_000, tone)
        let (samples, error) = try Self.read(path)
        #expect(error == nil && samples.count == frames)

        // Without its last byte, or without the end-of-stream flag of its last page, it is not whole.
        let bytes = try folder.bytes("clip.ogg")
        let cut = try folder.write("cut.ogg", bytes: bytes.dropLast())
        let start = try #require(bytes.indices.last { bytes[$0...].starts(with: "OggS".utf8) })
        var unmarked = bytes
        unmarked[start + 5] &= ~4
        let open = try folder.write("open.ogg", bytes: unmarked)
        for path in [cut, open] {
            do {
                #expect(try Self.read(path).error == .truncated, "\(path)")
            } catch let error as AudioError {
                #expect(error == .undecodable || error == .notAudio || error == .noAudio, "\(error)")
            }
        }
    }

    @Test(arguments: 1...8) func keepsChannelsApart(channels: Int) throws {
        let folder = try TestFolder()
        let frames = 700
        let samples = (0..<frames * channels).map { Float($0 % channels + 1) / 16 + Float($0 / channels) / 16_384 }
        for (name, format) in [
            ("a.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT), ("a.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_24),
        ] {
            let path = try folder.write(name, format: format, rate: 16_000, channels: channels, samples)
            let read = try Self.read(path, piece: 333)
            #expect(read.error == nil)
            #expect(Signals.snr(read.samples, against: samples) > 100)
            let last = try FileBlocks.readClip(path: path, atMost: 1, mix: .channel(channels - 1))
            #expect(last.count == frames)
            #expect(abs((last.first ?? 0) - Float(channels) / 16) < 1e-5)
            let mixed = try FileBlocks.readClip(path: path, atMost: 1)
            #expect(abs((mixed.first ?? 0) - Float(channels + 1) / 32) < 1e-5)
        }
    }

    @Test(arguments: [8_000, 11_025, 16_000, 44_100, 192_000]) func readsRates(rate: Int) throws {
        let folder = try TestFolder()
        let tone = Signals.sine(1_000, rate: rate, seconds: 0.25)
        let path = try folder.write("tone.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate: rate, tone)
        let clip = try FileBlocks.readClip(path: path, atMost: 1)
        #expect(clip.count == (tone.count * 16_000 + rate - 1) / rate)
        let fit = Signals.fit(1_000, in: clip[1_000..<3_000], rate: 16_000)
        #expect(abs(fit.amplitude - 0.9) < 0.001)
        #expect(fit.rest < 0.0001)
    }

    @Test func leavesLoudFloatsAlone() throws {
        let folder = try TestFolder()
        let path = try folder.write("loud.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, [0.5, 3, -7.25, 8])
        #expect(try Self.read(path).samples == [0.5, 3, -7.25, 8])
    }

    @Test func blocksAreTheClipInPieces() throws {
        let folder = try TestFolder()
        let samples = Signals.noise(count: 22_050, seed: 5)
        let path = try folder.write("noise.wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate: 44_100, samples)
        var blocks = try FileBlocks(path: path)
        #expect(blocks.expectedSamples == 8_000)
        let rate = try AudioFile(path: path).sampleRate
        #expect(rate == 44_100)
        var counts: [Int] = []
        var all: [Float] = []
        var block = [Float](repeating: 0, count: AudioFormat.hopSamples)
        while true {
            for index in block.indices { block[index] = 9 }
            var span = block.mutableSpan
            guard let count = try blocks.next(into: &span) else { break }
            counts.append(count)
            all += block
        }
        #expect(counts == [1600, 1600, 1600, 1600, 1600])
        #expect(try FileBlocks.readClip(path: path, atMost: 1) == all)
        #expect(try FileBlocks.readClip(path: path, atMost: 0.25) == Array(all.prefix(4_000)))
        #expect(try FileBlocks.readClip(path: path, atMost: 0) == [])
        #expect(try FileBlocks.readClip(path: path, atMost: -.infinity) == [])
        #expect(try FileBlocks.readClip(path: path, atMost: .infinity).count == 8_000)
        #expect(try FileBlocks.readClip(path: path, atMost: .nan).count <= 8_000)
    }

    @Test func lastBlockIsPadded() throws {
        let folder = try TestFolder()
        let path = try folder.write(
            "short.wav",
            format: SF_FORMAT_WAV | SF_FORMAT_FLOAT,
            [Float](repeating: 1, count: 1_700)
        )
        var blocks = try FileBlocks(path: path)
        var block = [Float](repeating: 9, count: AudioFormat.hopSamples)
        var span = block.mutableSpan
        #expect(try blocks.next(into: &span) == 1600)
        #expect(try blocks.next(into: &span) == 100)
        #expect(try blocks.next(into: &span) == nil)
        #expect(try blocks.next(into: &span) == nil)
        #expect(block == [Float](repeating: 0, count: 1600), "after the end a block is silent")
    }
}
