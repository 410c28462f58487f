import CSndFile
import Foundation
import TestSupport
import Testing

/// The main task, on a voice that no model was trained on.
struct VoiceTests {
    static let expected = [
        "Front_Center": [], "Front_Left": ["left"], "Front_Right": ["right"], "Noise": [], "Rear_Center": [],
        "Rear_Left": ["left"], "Rear_Right": ["right"], "Side_Left": ["left"], "Side_Right": ["right"],
    ]

    @Test func `each voice gives its word once, and nothing else`() throws {
        let program = try Program.beckon(["classify", "--json", Voices.folder])
        #expect(program.status == 0)
        #expect(program.error == "")
        let results = try Result.all(in: program)
        for (name, words) in Self.expected {
            let heard = results.filter { $0.file == Voices.path(name) }
            #expect(heard.map(\.word) == words, "\(name)")
            for result in heard {
                #expect(result.event == "word")
                let (start, end) = (try #require(result.start), try #require(result.end))
                // The word is the second of two in about 1.4 s.
                #expect(start > 0.4 && start < 1 && end > 1 && end < 1.6, "\(name) \(start) – \(end)")
                #expect(try #require(result.time) < 2)
            }
        }
        #expect(results.count == 6)
    }

    struct Coding: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let ending: String
        let format: Int
        var rate = 48_000
        var channels = 1
    }

    static let codings: [Coding] = [
        .init("WAV 16-bit", "wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: 44_100, channels: 2),
        .init("WAV 24-bit", "wav", SF_FORMAT_WAV | SF_FORMAT_PCM_24, rate: 96_000),
        .init("WAV 32-bit", "wav", SF_FORMAT_WAV | SF_FORMAT_PCM_32, rate: 192_000, channels: 3),
        .init("WAV float", "wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate: 22_050),
        .init("WAV at 16 kHz", "wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: 16_000),
        .init("WAV, 8 channels", "wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, channels: 8),
        .init("FLAC", "flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_24, rate: 32_000, channels: 2),
        .init("Ogg Vorbis", "ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS),
        .init("Opus", "opus", SF_FORMAT_OGG | SF_FORMAT_OPUS, channels: 2),
    ]

    @Test(arguments: codings)
    func `the same word in every audio format`(_ coding: Coding) throws {
        let folder = try TestFolder()
        let voice = resampled(try Voices.samples("Rear_Right"), to: coding.rate)
        let samples = voice.flatMap { sample in [Float](repeating: sample, count: coding.channels) }
        let path = try folder.write(
            "voice.\(coding.ending)",
            format: coding.format,
            rate: coding.rate,
            channels: coding.channels,
            samples
        )
        let program = try Program.beckon(["classify", "--json", path])
        #expect(program.status == 0, "\(program.error)")
        #expect(try Result.all(in: program).map(\.word) == ["right"])
    }

    @Test func `one channel is recognised where the mix of both channels is not`() throws {
        let folder = try TestFolder()
        let voice = try Voices.samples("Side_Left")
        let noise = try Voices.samples("Noise")
        let stereo = voice.indices.flatMap { [noise[$0 % noise.count] * 8, voice[$0], voice[$0]] }
        let path = try folder.write(
            "three.wav",
            format: SF_FORMAT_WAV | SF_FORMAT_FLOAT,
            rate: 48_000,
            channels: 3,
            stereo
        )
        for (channels, words) in [("1", ["left"]), ("1,2", ["left"]), ("0", []), ("0,1", [])] {
            let heard = try Program.beckon(["classify", "--json", "--channel", channels, path])
            #expect(try Result.all(in: heard).map(\.word) == words, "\(channels)")
        }
        let missing = try Program.beckon(["classify", "--json", "--channel", "1,3", path])
        #expect(missing.status == 1)
        #expect(missing.error.contains("three.wav") && missing.error.contains("no channel 3 but channels 0 to 2"))
    }

    @Test func `a long recording is a stream with the words where they were said`() throws {
        let folder = try TestFolder()
        var audio = [Float](repeating: 0, count: 48_000)
        var said: [(word: String, at: Double)] = []
        for _ in 0..<10 {
            for (name, word) in [("Front_Left", "left"), ("Front_Center", nil), ("Rear_Right", "right")] {
                if let word { said.append((word, Double(audio.count) / 48_000)) }
                audio += try Voices.samples(name) + [Float](repeating: 0, count: 36_000)
            }
        }
        let path = try folder.write("long.flac", format: SF_FORMAT_FLAC | SF_FORMAT_PCM_16, rate: 48_000, audio)
        let program = try Program.beckon(["classify", "--json", path])
        let results = try Result.all(in: program)
        try #require(results.map(\.word) == said.map(\.word))
        for (result, truth) in zip(results, said) {
            #expect(abs(try #require(result.start) - truth.at - 0.8) < 0.4, "said from \(truth.at)")
        }
        print("\(said.count) words in \(audio.count / 48_000) s, \(results.count) heard")
    }

    /// Linear interpolation: accurate enough for detection, and independent of the code under test.
    private func resampled(_ samples: [Float], to rate: Int) -> [Float] {
        let step = Double(Voices.rate) / Double(rate)
        return (0..<Int(Double(samples.count - 1) / step)).map { index in
            let position = Double(index) * step
            let part = Float(position - position.rounded(.down))
            return samples[Int(position)] * (1 - part) + samples[Int(position) + 1] * part
        }
    }
}

extension VoiceTests.Coding {
    fileprivate init(_ name: String, _ ending: String, _ format: Int, rate: Int = 48_000, channels: Int = 1) {
        self.init(testDescription: name, ending: ending, format: format, rate: rate, channels: channels)
    }
}
