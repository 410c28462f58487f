import Foundation
import TestSupport
import Testing

@testable import Enrollment

/// The store of words comes back as it was, and says of anything else what it is.
struct WordStoreTests {
    private static let store: WordStore = {
        func vector(_ seed: Int) -> [Float] { (0..<8).map { Float(sin(Double(seed * 8 + $0))) } }
        let takes = (0..<3).map {
            WordStore.Take(anchors: [vector($0), vector($0 + 9)], lag: 7, audio: [1, -2, 32767])
        }
        return WordStore(
            embedding: "0123456789abcdef",
            words: [
                WordStore.Word(name: "hey house", threshold: 0.75, takes: takes),
                WordStore.Word(name: "Käsekuchen 🎂", threshold: 0.5, takes: [.init(anchors: [vector(4)], lag: 0)]),
            ]
        )
    }()

    @Test func `what is encoded is decoded again`() throws {
        let bytes = try Self.store.encoded()
        #expect(try WordStore(bytes: bytes, file: "f") == Self.store)
        #expect(try WordStore(bytes: try WordStore(embedding: "e").encoded(), file: "f") == WordStore(embedding: "e"))
    }

    @Test func `a store cut anywhere is told to be damaged`() throws {
        let bytes = try Self.store.encoded()
        for count in bytes.indices {
            #expect(throws: EnrollmentError.damaged) { try WordStore(bytes: Array(bytes[..<count]), file: "f") }
        }
    }

    @Test func `a store with any byte changed is told to be damaged`() throws {
        let bytes = try Self.store.encoded()
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 1 << UInt8(index % 8)
            #expect(throws: EnrollmentError.damaged) { try WordStore(bytes: other, file: "f") }
        }
    }

    @Test func `a file holds the last update, readable by its owner alone`() throws {
        let folder = try TestFolder()
        let file = WordStoreFile(path: folder.file("words"))
        #expect(try file.read() == nil)
        try file.update { $0 = Self.store }
        try file.update { store throws(EnrollmentError) in try store?.forget("hey house") }
        #expect(try file.read()?.words.map(\.name) == ["Käsekuchen 🎂"])
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(!FileManager.default.fileExists(atPath: file.path + ".new"))
    }

    @Test func `an update that fails leaves the store as it was`() throws {
        let folder = try TestFolder()
        let file = WordStoreFile(path: folder.file("words"))
        try file.update { $0 = Self.store }
        #expect(throws: EnrollmentError.unknown) {
            try file.update { store throws(EnrollmentError) in
                store?.words.removeFirst()
                try store?.forget("hey house")
            }
        }
        // What a program left that died while it wrote is in nobody's way.
        try Data("half a st".utf8).write(to: URL(fileURLWithPath: file.path + ".new"))
        #expect(try file.read() == Self.store)
        try file.update { $0?.words.removeLast() }
        #expect(try file.read()?.words.count == 1)
    }

    @Test func `two updates at a time both count`() throws {
        let folder = try TestFolder()
        let file = WordStoreFile(path: folder.file("words"))
        DispatchQueue.concurrentPerform(iterations: 16) { number in
            try? file.update { store throws(EnrollmentError) in
                var changed = store ?? WordStore(embedding: "e")
                try changed.put(.init(name: "word \(number)", threshold: 0.5, takes: []))
                store = changed
            }
        }
        #expect(try file.read()?.words.count == 16)
    }

    @Test(arguments: [
        ("", EnrollmentError.name), ("  ", .name), ("_silence_", .name), ("two\nlines", .name), (" blank", .name),
        (String(repeating: "a", count: 201), .name),
    ]) func `what is no name is told`(name: String, error: EnrollmentError) {
        #expect(throws: error) { try WordStore.check(name: name) }
    }

    @Test(arguments: ["computer", "hey house", "Grüß Gott", "おはよう", "R2-D2", "it's"])
    func `any line of text is a name`(name: String) throws { try WordStore.check(name: name) }
}
