import Configuration
import Core
import Events
import Foundation
import Inference
import IntegrationInterface
import Spotting
import Synchronization
import TestSupport
import Testing
import WakeWords

@testable import Daemon
@testable import Enrollment

/// What is read and built again when files change.
struct SettingsLoaderTests {
    private let folder: TestFolder
    private let file: WordStoreFile
    private let loader: SettingsLoader

    init() throws {
        folder = try TestFolder()
        file = WordStoreFile(path: folder.file("words"))
        let model = folder.file("model")
        try FileManager.default.copyItem(atPath: Checkout.model, toPath: model)
        loader = SettingsLoader(
            path: nil,
            vocabulary: VocabularyLoader(modelFolder: model, words: TaughtWords(file.path)),
            log: ServiceLog { _, _ in }
        )
    }

    /// Stores words of one take each, of the shipped model.
    private func teach(_ names: [String], threshold: Float = 0.8) throws {
        let model = try Material.model()
        let words = names.map { name in
            var template = [Float](repeating: 0, count: model.embeddingCount)
            template[name.utf8.count % template.count] = 1
            let take = WordStore.Take(templates: [template], templateSpacing: 0)
            var word = WordStore.Word(
                name: name,
                embedding: model.embeddingIdentity,
                threshold: threshold,
                takes: [take]
            )
            word.sensitivities[.strict, .spot] = 0.9
            return word
        }
        try file.update { $0 = WordStore(words: words) }
    }

    private func vocabulary() throws -> Vocabulary { try loader.load(leavingOutUnknownWords: true).vocabulary }

    @Test func `changed words are read without loading the model again`() throws {
        try teach(["lamp"])
        let first = try vocabulary()
        #expect(first.taught.map(\.name) == ["lamp"])
        try teach(["lamp", "kettle"])
        let second = try vocabulary()
        #expect(second.taught.map(\.name) == ["lamp", "kettle"] && second.model === first.model)
        try teach(["lamp", "kettle"], threshold: 0.7)
        let third = try vocabulary()
        #expect(third.taught.map(\.threshold) == [0.7, 0.7] && third.model === first.model)
        try file.update { $0 = WordStore() }
        #expect(try vocabulary().taught == [])
    }

    @Test func `files that were written again without a change give the same vocabulary`() throws {
        try teach(["lamp"])
        let first = try vocabulary()
        #expect(try vocabulary() === first)
        try folder.write("words", bytes: try folder.bytes("words"))
        #expect(try vocabulary() === first)
    }

    @Test func `a changed model is loaded, with the words`() throws {
        try teach(["lamp"])
        let first = try vocabulary()
        let description = try String(decoding: folder.bytes("model/model.json"), as: UTF8.self)
        let name = "\"name\": \"\(first.model.name)\""
        #expect(description.contains(name))
        let renamed = description.replacingOccurrences(of: name, with: "\"name\": \"other\"")
        try folder.write("model/model.json", bytes: Array(renamed.utf8))
        let second = try vocabulary()
        #expect(second.model.name == "other" && second.taught == first.taught)
    }

    /// A loader of a copy of the model that has confirming networks, by a configuration.
    private func confirmingLoader(
        _ configuration: String,
        overrides: @escaping @Sendable (inout Configuration) -> Void = { _ in }
    ) throws -> SettingsLoader {
        let model = folder.file("confirming")
        try FileManager.default.copyItem(atPath: Checkout.confirmingModel, toPath: model)
        return SettingsLoader(
            path: try folder.write("c.json5", bytes: Array(configuration.utf8)),
            vocabulary: VocabularyLoader(modelFolder: model, words: TaughtWords("none")),
            log: ServiceLog { _, _ in },
            overrides: overrides
        )
    }

    @Test func `a reload loads confirming networks or does without them, as the configuration says`() throws {
        let loader = try confirmingLoader("{}")
        func state() throws -> ConfirmationState { try loader.load().vocabulary.model.confirmationState }
        #expect(try state() == .on, "a configuration that does not know the key")
        let first = try loader.load()
        try folder.write("c.json5", bytes: Array("{ confirm: false }".utf8))
        let second = try loader.load()
        #expect(second.configuration != first.configuration && second.vocabulary !== first.vocabulary)
        #expect(second.vocabulary.model.confirmation == nil)
        #expect(try state() == .off)
        try folder.write("c.json5", bytes: Array("{ confirm: true }".utf8))
        #expect(try state() == .on)
        try teach(["lamp"])
        #expect(try self.loader.load().vocabulary.model.confirmationState == .on, "the shipped model")
        let without = SettingsLoader(
            path: nil,
            vocabulary: VocabularyLoader(modelFolder: Checkout.path + "/Models/flatspeech", words: TaughtWords("none")),
            log: ServiceLog { _, _ in }
        )
        #expect(try without.load().vocabulary.model.confirmationState == .missing)
    }

    @Test func `an option does without networks, even where they are damaged`() throws {
        let loader = try confirmingLoader("{ confirm: true }") { $0.confirms = false }
        try folder.write("confirming/confirm.safetensors", bytes: [1, 2, 3])
        let first = try loader.load()
        #expect(first.vocabulary.model.confirmationState == .off && !first.configuration.confirms)
        #expect(try loader.load().vocabulary === first.vocabulary, "nothing is read again")
    }

    @Test func `wake words of the configuration and of options are known words`() throws {
        let words = "{ wakeWords: ['okay_nabu'], words: { 'Okay Nabu': { threshold: 0.7 } } }"
        let loader = try confirmingLoader(words) {
            $0.wakeWords.append(Checkout.path + "/Models/wake-words/alexa.tflite")
        }
        let first = try loader.load()
        #expect(first.vocabulary.wakeWords.map(\.name) == ["okay nabu", "alexa"])
        #expect(Array(first.wordThresholds.suffix(2).map(\.threshold)) == [0.7, 0.9])
        #expect(try loader.load().vocabulary === first.vocabulary, "nothing is read again")
        try folder.write("c.json5", bytes: Array("{ wakeWords: ['okay_nabu'], mode: 'spot' }".utf8))
        let second = try loader.load()
        #expect(second.vocabulary === first.vocabulary, "the rings of the words go on")
        try folder.write("c.json5", bytes: Array("{}".utf8))
        #expect(try loader.load().vocabulary.wakeWords.map(\.name) == ["alexa"])
    }

    @Test(arguments: [
        ("['nobody']", [], "wakeWords[0]: a service runs without 'nobody': there is no wake word “nobody”"),
        ("['ok_nabu']", [], "there is no wake word “ok_nabu”; did you mean okay_nabu?"),
        ("['hey_jarviss', 'alexa']", ["alexa"], "did you mean hey_jarvis?"),
        ("['okay_nabu', 'okay nabu']", ["okay nabu"], "wakeWords[1]: a service runs without 'okay nabu': "),
        ("['alexa', '/no/x.tflite', 'okay_nabu']", ["alexa", "okay nabu"], "/no/x.tflite: No such file or directory"),
    ])
    func `a wake word that cannot be used is left out, and the others are loaded`(
        words: String,
        loaded: [String],
        message: String
    ) throws {
        let lines = Mutex<[String]>([])
        var loader = try confirmingLoader("{ wakeWords: \(words) }") { _ in }
        loader = SettingsLoader(
            path: loader.path,
            vocabulary: loader.vocabulary,
            log: ServiceLog { level, text in if level == .warning { lines.withLock { $0.append(text) } } }
        )
        let first = try loader.load()
        #expect(first.vocabulary.wakeWords.map(\.name) == loaded && first.vocabulary.missing.count == 1)
        #expect(lines.withLock { $0 }.contains { $0.contains(message) }, "\(lines.withLock { $0 })")
        #expect(try loader.load().vocabulary === first.vocabulary, "nothing has changed")
        #expect(lines.withLock { $0 }.count == 2, "it is said at each load")
    }

    @Test func `what a configuration says of a wake word that cannot be loaded is left out with it`() throws {
        let file = folder.file("hey_house.tflite")
        let text = """
            { wakeWords: ['\(file)', 'alexa'], words: { 'hey house': { threshold: 0.7 } },
              phrases: [{ phrase: 'hey house go' }], sessions: [{ wake: 'hey house', words: ['go'] }] }
            """
        let loader = try confirmingLoader(text)
        let first = try loader.load()
        #expect(
            first.vocabulary.missing.map(\.word) == ["hey house"] && first.phrases.isEmpty && first.sessions.isEmpty
        )
        let fixture = Checkout.path + "/Tests/WakeWordsTests/Fixtures/verified.tflite"
        try FileManager.default.copyItem(atPath: fixture, toPath: file)
        let second = try loader.load()
        #expect(second.vocabulary.missing.isEmpty && second.sessions.map(\.name) == ["hey house"])
        #expect(second.vocabulary.wakeWords.map(\.name) == ["hey house", "alexa"] && second.phrases.count == 1)
        try Data("broken".utf8).write(to: URL(fileURLWithPath: file))
        #expect(
            try loader.load().vocabulary.wakeWords.map(\.name) == ["alexa"],
            "a reload goes on with the other words"
        )
    }

    @Test func `a wake word that an option names is needed`() throws {
        var loader = try confirmingLoader("{ wakeWords: ['alexa'] }") { $0.wakeWords.append("nobody") }
        loader.vocabulary.wakeWords = ["nobody"]
        #expect(throws: (any Error).self) { try loader.load() }
    }

    @Test(arguments: [
        ("['']", "wakeWords[0]: expected a wake word's name"),
        ("'okay_nabu'", "wakeWords: expected a list in [ ], not 'okay_nabu'; did you mean [\"okay_nabu\"]?"),
    ])
    func `what is no list of wake words is an error of its key`(words: String, message: String) throws {
        let loader = try confirmingLoader("{ wakeWords: \(words) }")
        let text = #expect(throws: (any Error).self) { try loader.load() }.map { "\($0)" } ?? ""
        #expect(text.contains(message), "\(text)")
    }

    @Test func `changed weights of confirming networks are read, and damaged ones are an error`() throws {
        let loader = try confirmingLoader("{}")
        let first = try loader.load().vocabulary
        let weights = try folder.bytes("confirming/confirm.safetensors")
        #expect(try loader.load().vocabulary === first)
        try folder.write("confirming/confirm.safetensors", bytes: Array(weights.dropLast(8)))
        let text = #expect(throws: (any Error).self) { try loader.load() }.map { "\($0)" } ?? ""
        #expect(text.contains("confirm.safetensors"), "\(text)")
        try folder.write("confirming/confirm.safetensors", bytes: weights.dropLast() + [weights[weights.count - 1] ^ 1])
        let second = try loader.load().vocabulary
        #expect(second.model.identity != first.model.identity)
    }

    @Test func `what is wrong with the taught words is said of their file, not of the configuration's model`() throws {
        var loader = loader
        loader.path = try folder.write("c.json5", bytes: Array("{ words: { stop: { threshold: 0.9 } } }".utf8))
        try folder.write("words", bytes: Array("no words".utf8))
        func problem() -> String { #expect(throws: (any Error).self) { try loader.load() }.map { "\($0)" } ?? "" }
        #expect(problem() == "\(file.path): not a word store; name one that beckon wrote")
        // Mistakes of the configuration are told beside it.
        try folder.write("c.json5", bytes: Array("{\n cooldown: -1,\n model: '\(folder.file("model"))' }".utf8))
        let both = problem().split(separator: "\n")
        #expect(both.count == 2 && both.first == "\(file.path): not a word store; name one that beckon wrote")
        #expect(both.last?.hasPrefix("\(folder.file("c.json5")):2:12: cooldown: ") == true, "\(both)")
        try folder.write("c.json5", bytes: Array("{ model: '/no/such' }".utf8))
        #expect(problem().hasPrefix("\(folder.file("c.json5")):1:3: model: "))
    }

    @Test func `a reload of changed words takes no memory, two hundred times`() throws {
        let names = (0..<20).map { "word \($0)" }
        try teach(names)
        var detector = try Detector(DetectorSettings(vocabulary()))
        // Other tests take memory meanwhile, so there are many trials.
        var heap: [Int] = []
        for round in 0..<240 {
            if round >= 20, round.isMultiple(of: 20) { heap.append(try #require(heapInUse())) }
            try teach(names, threshold: round.isMultiple(of: 2) ? 0.7 : 0.8)
            _ = detector.update(try DetectorSettings(vocabulary()))
        }
        let growth = zip(heap.dropFirst(), heap).map(-)
        // Templates of twenty words in twenty rounds have 100 kB alone.
        #expect(growth.contains { $0 < 64 << 10 }, "\(growth) bytes")
    }
}
