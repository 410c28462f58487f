import Beckon
import Foundation
import TestSupport
import Testing

/// The library on the shipped model and the recorded voice.
struct SpotterTests {
    private static func spotter(_ settings: Spotter.Settings = Spotter.Settings()) throws -> Spotter {
        try Spotter(model: Checkout.model, settings: settings)
    }

    /// Detections of a stream that gets the samples in chunks.
    private static func detections(
        of samples: [Float],
        rate: Int,
        chunk: Int,
        _ spotter: Spotter
    ) throws -> [Detection] {
        var stream = try spotter.stream(sampleRate: rate)
        var found: [Detection] = []
        for start in stride(from: 0, to: samples.count, by: chunk) {
            found += try stream.process(Array(samples[start..<min(start + chunk, samples.count)]))
        }
        return found + (try stream.finish())
    }

    @Test func `a file's words`() throws {
        let spotter = try Self.spotter()
        #expect(spotter.words.count == 10 && spotter.words.contains("left"))
        let found = try spotter.detections(inFile: Voices.path("Front_Left"))
        #expect(found.map(\.word) == ["left"])
        let detection = try #require(found.first)
        #expect(detection.confidence > 0.5 && detection.confidence <= 1)
        #expect(detection.start > 0.5 && detection.start < detection.end && detection.end < 1.7)
        #expect(try spotter.detections(inFile: Voices.path("Noise")).isEmpty)
    }

    @Test func `confirming networks look at what is found unless the settings say no`() throws {
        var settings = Spotter.Settings()
        settings.threshold = 0.3
        let path = Voices.path("Front_Left")
        let folder = try TestFolder()
        let model = try ModelCopy.confirming(in: folder)
        let confirmed = try Spotter(model: model, settings: settings).detections(inFile: path)
        settings.confirms = false
        let plain = try Spotter(model: model, settings: settings).detections(inFile: path)
        #expect(!confirmed.isEmpty && !plain.isEmpty)
        #expect(confirmed.contains { $0.confirmed != nil && $0.proposed != nil })
        #expect(plain.allSatisfy { $0.confirmed == nil && $0.proposed == nil })
    }

    @Test func `taught words are found beside the model's`() throws {
        let folder = try TestFolder()
        var settings = Spotter.Settings()
        settings.taughtWords = folder.file("words")
        let taught = try Program.beckon(
            ["enroll", "middle", "--force", "--words", folder.file("words"), "--from", Voices.path("Rear_Center")]
        )
        #expect(taught.status == 0, "\(taught.error)")
        let spotter = try Self.spotter(settings)
        #expect(spotter.words.count == 11 && spotter.words.last == "middle")
        #expect(try spotter.detections(inFile: Voices.path("Rear_Center")).map(\.word) == ["middle"])
        #expect(try spotter.detections(inFile: Voices.path("Front_Left")).map(\.word) == ["left"])
        settings.thresholds = ["middle": 1]
        #expect(try Self.spotter(settings).detections(inFile: Voices.path("Rear_Center")).isEmpty)
        for (path, says) in [
            (folder.file("none"), "no words are kept here"), (Voices.path("Noise"), "not a word store"),
        ] {
            settings.taughtWords = path
            let error = #expect(throws: SpotterError.words) { try Self.spotter(settings) }
            #expect(error?.description.contains(says) == true, "\(String(describing: error))")
        }
    }

    @Test(arguments: [441, 1_600, 100_000])
    func `a stream in chunks of any size has the words of the file`(chunk: Int) throws {
        for mode in [Spotter.Mode.spot, .command] {
            var settings = Spotter.Settings()
            settings.mode = mode
            let spotter = try Self.spotter(settings)
            let voice = try Voices.samples("Side_Left")
            let expected = try spotter.detections(inFile: Voices.path("Side_Left"))
            #expect(expected.count == 1)
            #expect(try Self.detections(of: voice, rate: Voices.rate, chunk: chunk, spotter) == expected)
        }
    }

    /// A word that is decided in the hop in which it ends has an end that is rounded the same way.
    @Test func `a stream has the words of the file to the last bit`() throws {
        let folder = try TestFolder()
        var settings = Spotter.Settings()
        settings.taughtWords = folder.file("words")
        let path = Voices.path("Rear_Center")
        #expect(
            try Program.beckon(["enroll", "middle", "--force", "--words", folder.file("words"), "--from", path]).status
                == 0
        )
        let spotter = try Self.spotter(settings)
        let expected = try spotter.detections(inFile: path)
        let voice = try Voices.samples("Rear_Center")
        #expect(expected.map(\.word) == ["middle"])
        #expect(try Self.detections(of: voice, rate: Voices.rate, chunk: 4_800, spotter) == expected)
    }

    @Test func `a word whose score stays above its threshold is decided at the end`() throws {
        var settings = Spotter.Settings()
        settings.trigger = .end
        settings.threshold = 0.0001
        let spotter = try Self.spotter(settings)
        let expected = try spotter.detections(inFile: Voices.path("Side_Left"))
        #expect(expected.map(\.word) == ["left"])
        let voice = try Voices.samples("Side_Left")
        #expect(try Self.detections(of: voice, rate: Voices.rate, chunk: 4_800, spotter) == expected)
    }

    @Test func `16-bit samples are the same as floats`() throws {
        let spotter = try Self.spotter()
        let voice = try Voices.samples("Rear_Right")
        let expected = try Self.detections(of: voice, rate: Voices.rate, chunk: 4_800, spotter)
        var stream = try spotter.stream(sampleRate: Voices.rate)
        var found = try stream.process(voice.map { Int16($0 * 32_768) })
        found += try stream.finish()
        #expect(found.map(\.word) == ["right"] && found == expected)
    }

    @Test func `amplified floats and pops keep their words`() throws {
        let spotter = try Self.spotter()
        let voice = try Voices.samples("Rear_Right")
        var spoilt = voice
        (spoilt[100], spoilt[20_000]) = (8.1, -40_000)
        for (name, samples) in [("amplified", voice.map { $0 * 40 }), ("pops", spoilt)] {
            let found = try Self.detections(of: samples, rate: Voices.rate, chunk: 4_800, spotter)
            #expect(found.map(\.word) == ["right"], "\(name)")
        }
    }

    @Test func `samples that are not finite count as silence`() throws {
        let spotter = try Self.spotter()
        var stream = try spotter.stream()
        let broken = [Float](repeating: .nan, count: 8_000) + [Float](repeating: .infinity, count: 8_000)
        #expect(try stream.process(broken).isEmpty)
        #expect(try stream.finish().isEmpty)
    }

    @Test func `samples of another scale are refused, and the stream goes on`() throws {
        let spotter = try Self.spotter()
        let samples = try Voices.samples("Front_Left")
        let expected = try spotter.detections(inFile: Voices.path("Front_Left"))
        var stream = try spotter.stream(sampleRate: Voices.rate)
        var found = try stream.process(Array(samples.prefix(9_600)))
        // As whole numbers of 16 bits, and as others.
        for scale in [Float(32_768), 32_000.3] {
            let error = #expect(throws: SpotterError.audio) { try stream.process(samples.map { $0 * scale }) }
            #expect(error?.description.contains("32768") == true)
        }
        found += try stream.process(Array(samples.dropFirst(9_600)))
        #expect(try found + stream.finish() == expected)
        // Pops, and speech that was amplified, are clipped.
        for (change, factor) in [([0: Float(8.1), 1: -1e6, 2: 1e30], Float(1)), ([:], 20)] {
            var loud = try spotter.stream(sampleRate: Voices.rate)
            let words = try loud.process(samples.indices.map { change[$0] ?? samples[$0] * factor }) + loud.finish()
            #expect(words.map(\.word) == ["left"], "\(factor)")
        }
    }

    @Test func `thresholds are respected`() throws {
        var strict = Spotter.Settings()
        strict.threshold = 1
        #expect(try Self.spotter(strict).detections(inFile: Voices.path("Front_Left")).isEmpty)
        strict.thresholds = ["left": 0.5]
        let found = try Self.spotter(strict).detections(inFile: Voices.path("Front_Left"))
        #expect(found.map(\.word) == ["left"])
    }

    @Test func `invalid input throws`() throws {
        #expect(throws: SpotterError.model) { try Spotter(model: "/nowhere") }
        var settings = Spotter.Settings()
        settings.thresholds = ["maybe": 0.5]
        #expect(throws: SpotterError.settings) { try Self.spotter(settings) }
        settings.thresholds = ["left": 1.5]
        #expect(throws: SpotterError.settings) { try Self.spotter(settings) }
        let spotter = try Self.spotter()
        #expect(throws: SpotterError.audio) { try spotter.detections(inFile: "/nowhere.wav") }
        #expect(throws: SpotterError.audio) { _ = try spotter.stream(sampleRate: 7) }
        settings.thresholds = [:]
        settings.channel = 3
        let fourth = try Self.spotter(settings)
        #expect(throws: SpotterError.audio) { try fourth.detections(inFile: Voices.path("Noise")) }
    }
}

/// `Examples/Spot`, run as a user would.
struct ExampleTests {
    private static let program = URL(fileURLWithPath: CommandLine.arguments[0])
        .deletingLastPathComponent().appendingPathComponent("spot")

    @Test func `the example prints the words that classify prints`() throws {
        struct Event: Decodable { let word: String, start: Double, end: Double }
        for name in ["Front_Left", "Rear_Right"] {
            let path = Voices.path(name)
            let classified = try Program.beckon(["classify", "--json", path]).lines.map {
                try JSONDecoder().decode(Event.self, from: Data($0.utf8))
            }
            let expected = classified.map { event in
                "\(Int((event.start * 1000).rounded())) ms\t\(Int((event.end * 1000).rounded())) ms\t\(event.word)"
            }
            let program = try Program.run(Self.program, [Checkout.model, path])
            #expect(program.status == 0 && program.error == "")
            #expect(expected.count == 1 && program.lines.map(String.init) == expected)
        }
    }

    @Test func `the example reports errors`() throws {
        let file = try Program.run(Self.program, [Checkout.model, "/nowhere.wav"])
        #expect(file.status == 1 && file.error.hasPrefix("spot: ") && file.error.contains("/nowhere.wav"))
        #expect(try Program.run(Self.program, []).status == 2)
        let silence = try Program.run(Self.program, [Checkout.model], input: String(repeating: "\0", count: 32_001))
        #expect(silence.status == 0 && silence.output == "")
    }
}
