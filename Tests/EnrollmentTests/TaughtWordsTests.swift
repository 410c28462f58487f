import Foundation
import Inference
import TestSupport
import Testing

@testable import Enrollment

/// The words that a service loads, and what becomes of words of another model.
struct TaughtWordsTests {
    @Test func `root's words before the service's first start are not the service's`() {
        let unit = "/usr/lib/systemd/system/beckon.service"
        func isBefore(_ files: [String], root: Bool = true, _ environment: [String: String] = [:]) -> Bool {
            TaughtWords.isBeforeService(environment, isRoot: root) { files.contains($0) }
        }
        #expect(isBefore([unit]) && isBefore(["/etc/systemd/system/beckon.service"]))
        #expect(!isBefore([]) && !isBefore([unit, "/var/lib/beckon"]) && !isBefore([unit], root: false))
        #expect(!isBefore([unit], ["BECKON_WORDS": "/w"]) && !isBefore([unit], ["STATE_DIRECTORY": "/s"]))
    }

    @Test func `the words of the system's services are in a folder of their own, where there is one`() {
        func path(_ files: [String], root: Bool = true, _ environment: [String: String] = [:]) -> String? {
            TaughtWords.usualPath(environment, isRoot: root) { files.contains($0) }
        }
        let words = "/var/lib/beckon-words"
        #expect(path([words], ["HOME": "/root"]) == "/var/lib/beckon-words/words")
        #expect(path([words], root: false, ["HOME": "/home/a"]) == "/home/a/.local/state/beckon/words")
        // A container, or a unit of one's own.
        #expect(path([words], ["STATE_DIRECTORY": "/s"]) == "/s/words")
        #expect(path([words], ["STATE_DIRECTORY": "/s", "BECKON_WORDS": "/w"]) == "/w")
        #expect(
            !TaughtWords.isBeforeService(["HOME": "/root"], isRoot: true) { $0 == words || $0.hasSuffix(".service") }
        )
    }

    private let folder: TestFolder
    private let file: WordStoreFile

    init() throws {
        folder = try TestFolder()
        file = WordStoreFile(path: folder.file("words"))
    }

    private func load(stores: Bool) throws -> TaughtWords.Loaded {
        try TaughtWords(file.path).load(for: try RecordedTakes.model(), folder: RecordedTakes.folder, stores: stores)
    }

    private func store(_ words: [WordStore.Word]) throws { try file.update { $0 = WordStore(words: words) } }

    @Test func `words of another model are learnt anew once, and stored without loss`() throws {
        let taught = try RecordedTakes.word("center", try RecordedTakes.variants("Rear_Center", 3))
        let word = WordStoreTests.ofAnotherModel(taught)
        var mute = WordStoreTests.ofAnotherModel(
            try RecordedTakes.word("mute", try RecordedTakes.variants("Side_Left", 2))
        )
        for index in mute.takes.indices { mute.takes[index].audio = [] }
        try store([word, mute])
        let before = try folder.bytes("words")

        let inMemory = try load(stores: false)
        #expect(inMemory.words.map(\.name) == ["center"] && inMemory.lost == ["mute"] && inMemory.note == nil)
        #expect(try folder.bytes("words") == before)

        let stored = try load(stores: true)
        #expect(stored.words == inMemory.words && stored.lost == ["mute"])
        #expect(stored.note?.contains("learnt anew for the model") == true)
        let after = try #require(try file.read())
        #expect(after["mute"] == mute)
        #expect(after["center"]?.takes.map(\.audio) == word.takes.map(\.audio))

        let bytes = try folder.bytes("words")
        let again = try load(stores: true)
        #expect(again.words == stored.words && again.lost == ["mute"] && again.note == nil)
        #expect(try folder.bytes("words") == bytes)
    }

    @Test func `words of another model are used also where they cannot be stored`() throws {
        let word = try RecordedTakes.word("center", try RecordedTakes.variants("Rear_Center", 3))
        try store([WordStoreTests.ofAnotherModel(word)])
        let before = try folder.bytes("words")
        let lock = open(file.path + ".lock", O_RDWR)
        #expect(flock(lock, LOCK_EX) == 0)
        let loaded = try load(stores: true)
        close(lock)
        #expect(loaded.words.map(\.name) == ["center"])
        #expect(loaded.note?.contains("another program") == true && loaded.note?.contains("at each start") == true)
        #expect(try folder.bytes("words") == before)
    }

    @Test func `a word whose vectors have another length is not taken for one of the model`() throws {
        let model = try RecordedTakes.model()
        let takes = [WordStore.Take(templates: [[1, 0]], templateSpacing: 0)]
        try store([WordStore.Word(name: "short", embedding: model.embeddingIdentity, takes: takes)])
        let loaded = try load(stores: true)
        #expect(loaded.words == [] && loaded.lost == ["short"])
    }
}
