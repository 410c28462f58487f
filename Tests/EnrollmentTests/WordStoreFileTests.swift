import Core
import Foundation
import TestSupport
import Testing

@testable import Enrollment

/// A store is read back as it was written, and a damaged one is rejected.
struct WordStoreFileTests {
    private static let store: WordStore = {
        func vector(_ seed: Int) -> [Float] { (0..<8).map { Float(sin(Double(seed * 8 + $0))) } }
        let takes = (0..<3).map {
            WordStore.Take(templates: [vector($0), vector($0 + 9)], templateSpacing: 7, audio: [1, -2, 32767])
        }
        return WordStore(
            embedding: "0123456789abcdef",
            words: [
                WordStore.Word(name: "hey house", threshold: 0.75, takes: takes),
                WordStore.Word(
                    name: "Käsekuchen 🎂",
                    threshold: 0.5,
                    takes: [.init(templates: [vector(4)], templateSpacing: 0)]
                ),
            ]
        )
    }()

    @Test func `decoding reverses encoding`() throws {
        let bytes = try Self.store.encoded()
        #expect(try WordStore(bytes: bytes, file: "f") == Self.store)
        #expect(try WordStore(bytes: try WordStore(embedding: "e").encoded(), file: "f") == WordStore(embedding: "e"))
    }

    @Test func `thresholds of sensitivities are kept, and ones outside 0 to 1 refused`() throws {
        var store = Self.store
        store.words[0].sensitivities[.strict, .spot] = 0.9
        store.words[0].sensitivities[.eager, .command] = 0.3
        #expect(try WordStore(bytes: try store.encoded(), file: "f") == store)
        store.words[0].sensitivities[.eager, .command] = 1.5
        #expect(throws: EnrollmentError.damaged) { try WordStore(bytes: try store.encoded(), file: "f") }
    }

    @Test func `a store cut anywhere is refused as damaged`() throws {
        let bytes = try Self.store.encoded()
        for count in bytes.indices {
            #expect(throws: EnrollmentError.damaged) { try WordStore(bytes: Array(bytes[..<count]), file: "f") }
        }
    }

    @Test func `a store with any byte changed is refused as damaged`() throws {
        let bytes = try Self.store.encoded()
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 1 << UInt8(index % 8)
            #expect(throws: EnrollmentError.damaged) { try WordStore(bytes: other, file: "f") }
        }
    }

    @Test func `a file holds the last update and only its owner can read it`() throws {
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
        // The temporary file of a program that died while writing does no harm.
        try Data("half a st".utf8).write(to: URL(fileURLWithPath: file.path + ".new"))
        #expect(try file.read() == Self.store)
        try file.update { $0?.words.removeLast() }
        #expect(try file.read()?.words.count == 1)
    }

    @Test func `concurrent updates are all kept`() throws {
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

    @Test func `the format on disk does not change`() throws {
        let bytes = try Self.store.encoded()
        let take = #"{"anchors":2,"lag":7,"samples":3}"#
        let header = Array(
            (#"{"dimensions":8,"embedding":"0123456789abcdef","words":[{"boundary":0.5,"name":"hey house","takes":["#
                + "\(take),\(take),\(take)"
                + #"],"threshold":0.75},{"boundary":0.5,"name":"Käsekuchen 🎂","takes":["#
                + #"{"anchors":1,"lag":0,"samples":0}],"threshold":0.5}]}"#).utf8
        )
        #expect(bytes.starts(with: Array("BECKONW".utf8) + [1, UInt8(header.count & 0xFF), UInt8(header.count >> 8)]))
        #expect(Array(bytes[16..<16 + header.count]) == header)
        // Three takes of two vectors and three samples, one of one vector, a checksum.
        #expect(bytes.count == 16 + header.count + 3 * (2 * 8 * 4 + 3 * 2) + 8 * 4 + 8)
        // The first sample of the first take: 1, −2, 32767.
        let audio = 16 + header.count + 2 * 8 * 4
        #expect(Array(bytes[audio..<audio + 6]) == [1, 0, 0xFE, 0xFF, 0xFF, 0x7F])
    }
}
