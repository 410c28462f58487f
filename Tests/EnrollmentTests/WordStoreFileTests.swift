import Core
import Foundation
import Synchronization
import System
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
            words: [
                WordStore.Word(name: "hey house", embedding: "0123456789abcdef", threshold: 0.75, takes: takes),
                WordStore.Word(
                    name: "Käsekuchen 🎂",
                    embedding: "fedcba9876543210",
                    threshold: 0.5,
                    takes: [.init(templates: [vector(4)], templateSpacing: 0)]
                ),
            ]
        )
    }()

    @Test func `decoding reverses encoding`() throws {
        let bytes = try Self.store.encoded()
        #expect(try WordStore(bytes: bytes, file: "f") == Self.store)
        #expect(try WordStore(bytes: try WordStore().encoded(), file: "f") == WordStore())
    }

    @Test func `thresholds of sensitivities are kept, and ones outside 0 to 1 refused`() throws {
        var store = Self.store
        store.words[0].sensitivities[.strict, .spot] = 0.9
        store.words[0].sensitivities[.eager, .command] = 0.3
        #expect(try WordStore(bytes: try store.encoded(), file: "f") == store)
        store.words[0].sensitivities[.eager, .command] = 1.5
        #expect(throws: EnrollmentError.damaged) { try WordStore(bytes: try store.encoded(), file: "f") }
    }

    /// The same with the cohort of one word.
    private static let calibrated: WordStore = {
        var store = WordStoreFileTests.store
        store.words[0].cohort = store.words[0].takes[1].templates
        return store
    }()

    /// The same with the text of another word.
    private static let spelled: WordStore = {
        var store = WordStoreFileTests.calibrated
        store.words[1].text = store.words[1].takes.first?.templates.first ?? []
        return store
    }()

    @Test(arguments: [(calibrated, 4), (spelled, 5)] as [(WordStore, UInt8)])
    func `cohorts and texts are kept, and make a file that older programs refuse`(store: WordStore, version: UInt8)
        throws
    {
        let bytes = try store.encoded()
        #expect(bytes[7] == version)
        #expect(try WordStore(bytes: bytes, file: "f") == store)
        let front = WordStore.detectorBytes(Array(bytes[..<24]))
        let known = try WordStore(bytes: Array(bytes[..<front]), file: "f", withAudio: false)
        #expect(
            known.words.map(\.cohort) == store.words.map(\.cohort) && known.words.map(\.text) == store.words.map(\.text)
        )
        #expect(known.words[0].takes[0].audio.isEmpty)
    }

    @Test func `a cohort or a text of another size than the takes is refused as damaged`() throws {
        var (cohort, text) = (Self.calibrated, Self.spelled)
        cohort.words[0].cohort.removeLast()
        text.words[1].text.removeLast()
        for store in [cohort, text] {
            #expect(throws: EnrollmentError.damaged) { try WordStore(bytes: try store.encoded(), file: "f") }
        }
    }

    @Test(arguments: [store, calibrated, spelled]) func `a store cut anywhere is refused as damaged`(store: WordStore)
        throws
    {
        let bytes = try store.encoded()
        for count in bytes.indices {
            #expect(throws: EnrollmentError.damaged) { try WordStore(bytes: Array(bytes[..<count]), file: "f") }
        }
    }

    @Test(arguments: [store, calibrated, spelled])
    func `a store with any byte changed is refused as damaged`(store: WordStore) throws {
        let bytes = try store.encoded()
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
                var changed = store ?? WordStore()
                try changed.put(.init(name: "word \(number)", embedding: "e", threshold: 0.5, takes: []))
                store = changed
            }
        }
        #expect(try file.read()?.words.count == 16)
    }

    @Test func `the format on disk does not change`() throws {
        let bytes = try Self.store.encoded()
        let take = #"{"anchors":2,"lag":7,"samples":3}"#
        let header = Array(
            (#"{"words":[{"boundary":0.5,"dimensions":8,"embedding":"0123456789abcdef","name":"hey house","takes":["#
                + "\(take),\(take),\(take)"
                + #"],"threshold":0.75},{"boundary":0.5,"dimensions":8,"embedding":"fedcba9876543210","#
                + #""name":"Käsekuchen 🎂","takes":[{"anchors":1,"lag":0,"samples":0}],"threshold":0.5}]}"#).utf8
        )
        #expect(bytes.starts(with: Array("BECKONW".utf8) + [2, UInt8(header.count & 0xFF), UInt8(header.count >> 8)]))
        // Three takes of two vectors, one of one vector.
        let vectors = (3 * 2 + 1) * 8 * 4
        #expect(Array(bytes[16..<24]) == [UInt8(vectors), 0, 0, 0, 0, 0, 0, 0])
        #expect(Array(bytes[24..<24 + header.count]) == header)
        let front = 24 + header.count + vectors + 8
        #expect(WordStore.detectorBytes(Array(bytes[..<24])) == front)
        // Three recordings of 1, −2, 32767, and a checksum.
        #expect(bytes.count == front + 3 * 3 * 2 + 8)
        #expect(Array(bytes[front..<front + 6]) == [1, 0, 0xFE, 0xFF, 0xFF, 0x7F])
    }

    @Test func `a store of the first version is read`() throws {
        var bytes = Array("BECKONW".utf8) + [1]
        let header = Array(
            #"{"dimensions":2,"embedding":"e","words":[{"boundary":0.5,"name":"a b","takes":[{"anchors":1,"lag":0,"samples":2},{"anchors":1,"lag":0,"samples":0}],"threshold":0.75}]}"#
                .utf8
        )
        bytes += [UInt8(header.count & 0xFF), UInt8(header.count >> 8), 0, 0, 0, 0, 0, 0] + header
        // 1, 2; −2, 5; 0.5, −1.
        bytes += [0, 0, 0x80, 0x3F, 0, 0, 0, 0x40, 0xFE, 0xFF, 5, 0, 0, 0, 0, 0x3F, 0, 0, 0x80, 0xBF]
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
        bytes += withUnsafeBytes(of: sum.littleEndian) { Array($0) }
        let takes = [
            WordStore.Take(templates: [[1, 2]], templateSpacing: 0, audio: [-2, 5]),
            WordStore.Take(templates: [[0.5, -1]], templateSpacing: 0),
        ]
        let store = WordStore(words: [.init(name: "a b", embedding: "e", threshold: 0.75, takes: takes)])
        #expect(try WordStore(bytes: bytes, file: "f") == store)
        let folder = try TestFolder()
        let file = WordStoreFile(path: try folder.write("words", bytes: bytes))
        #expect(try file.readWithoutAudio()?.words[0].takes.map(\.audio) == [[], []])
        #expect(file.recordedWords() == ["a b"])
        bytes[bytes.count - 20] ^= 1
        #expect(throws: EnrollmentError.damaged) { try WordStore(bytes: bytes, file: "f") }
    }

    @Test func `a detector reads a store without its recordings`() throws {
        let folder = try TestFolder()
        let bytes = try Self.store.encoded()
        let front = WordStore.detectorBytes(Array(bytes[..<24]))
        // Only what a detector needs is there.
        let file = WordStoreFile(path: try folder.write("words", bytes: Array(bytes[..<front])))
        let store = try #require(try file.readWithoutAudio())
        #expect(store.words.map(\.taught) == Self.store.words.map(\.taught))
        #expect(!store.words.contains { $0.takes.contains { !$0.audio.isEmpty } })
        #expect(file.recordedWords() == ["hey house"])
        #expect(throws: EnrollmentError.damaged) { try file.read() }
        for index in 0..<front {
            var other = bytes
            other[index] ^= 1 << UInt8(index % 8)
            try folder.write("words", bytes: other)
            #expect(throws: EnrollmentError.damaged) { try file.readWithoutAudio() }
        }
    }

    // MARK: - Lock and links

    /// Another descriptor of a store's lock that holds it, as another program would.
    private func held(_ file: WordStoreFile) -> Int32 {
        let lock = open(file.path + ".lock", O_RDWR)
        #expect(flock(lock, LOCK_EX) == 0)
        return lock
    }

    @Test func `a wait for another program is announced once, ends at its limit and can be cancelled`() throws {
        let folder = try TestFolder()
        let file = WordStoreFile(path: folder.file("words"))
        try file.update { $0 = Self.store }
        let lock = held(file)
        let announced = Mutex(0)
        let announce: @Sendable () -> Void = { announced.withLock { $0 += 1 } }
        let wait = WordStoreFile.Wait(limit: .milliseconds(120), quiet: .zero, onWait: announce)
        #expect(throws: EnrollmentError.busy) { try file.update(wait) { $0 = nil } }
        #expect(announced.withLock { $0 } == 1)
        let brief = WordStoreFile.Wait(limit: .milliseconds(60), quiet: .seconds(1), onWait: announce)
        #expect(throws: EnrollmentError.busy) { try file.update(brief) { $0 = nil } }
        #expect(announced.withLock { $0 } == 1)
        #expect(throws: EnrollmentError.busy) { try file.update(.none) { $0 = nil } }
        let asked = Mutex(0)
        let cancelled = WordStoreFile.Wait(isCancelled: {
            asked.withLock {
                $0 += 1
                return $0 == 3
            }
        })
        #expect(throws: EnrollmentError.cancelled) { try file.update(cancelled) { $0 = nil } }
        // The wait ends as soon as the other program is done.
        let released = WordStoreFile.Wait(quiet: .zero, onWait: { flock(lock, LOCK_UN) })
        try file.update(released) { $0?.words.removeLast() }
        close(lock)
        #expect(try file.read()?.words.count == 1)
    }

    @Test func `an update that changes nothing writes nothing`() throws {
        let folder = try TestFolder()
        let file = WordStoreFile(path: folder.file("words"))
        try file.update { $0 = Self.store }
        let before = try FileStatus(path: file.path)
        try file.update { $0 = Self.store }
        #expect(try FileStatus(path: file.path) == before)
    }

    @Test func `in a folder that shares files with its group, the group may read the words`() throws {
        for (mode, words, lock) in [(0o700, 0o600, 0o600), (0o2770, 0o640, 0o660), (0o770, 0o600, 0o600)]
            as [(mode_t, UInt32, UInt32)]
        {
            let folder = try TestFolder()
            #expect(chmod(folder.path, mode) == 0)
            let file = WordStoreFile(path: folder.file("words"))
            try file.update { $0 = WordStore() }
            #expect(try FileStatus(path: file.path).permissions == words)
            #expect(try FileStatus(path: file.path + ".lock").permissions == lock)
        }
    }

    @Test func `a lock with another name keeps its owner and is refused`() throws {
        let folder = try TestFolder()
        let state = try folder.folder("state")
        let file = WordStoreFile(path: state + "/words")
        try folder.write("precious", bytes: [1])
        #expect(link(folder.file("precious"), file.path + ".lock") == 0)
        if geteuid() == 0 { #expect(chown(state, 12345, 12345) == 0) }
        let before = try FileStatus(path: folder.file("precious"))
        #expect(throws: EnrollmentError.store) { try file.update { $0 = Self.store } }
        #expect(throws: EnrollmentError.store) { try file.checkChangeable() }
        #expect(try FileStatus(path: folder.file("precious")) == before)
        #expect(try file.read() == nil)
        unlink(file.path + ".lock")
        #expect(symlink(folder.file("precious"), file.path + ".lock") == 0)
        let error = #expect(throws: EnrollmentError.store) { try file.update { $0 = Self.store } }
        #expect(error?.description.hasPrefix("\(file.path).lock: not a lock file") == true)
        unlink(file.path + ".lock")
        try file.update { $0 = Self.store }
        // What root creates belongs to the folder's owner.
        let owner = try FileStatus(path: state).owner
        #expect(try FileStatus(path: file.path).owner == owner)
        #expect(try FileStatus(path: file.path + ".lock").owner == owner)
        // A lock that was there before is not given away.
        if geteuid() == 0 {
            #expect(chown(file.path + ".lock", 0, 0) == 0)
            try file.update { $0?.words.removeLast() }
            #expect(try FileStatus(path: file.path + ".lock").owner == 0)
        }
    }

    @Test func `a symbolic link stays, and what it names is replaced`() throws {
        let folder = try TestFolder()
        try folder.folder("real")
        try folder.folder("links")
        #expect(symlink("../real/words", folder.file("links/second")) == 0)
        #expect(symlink(folder.file("links/second"), folder.file("links/first")) == 0)
        let file = WordStoreFile(path: folder.file("links/first"))
        try file.update { $0 = Self.store }
        try file.update { $0?.words.removeLast() }
        #expect(try WordStoreFile(path: folder.file("real/words")).read()?.words.count == 1)
        #expect(
            try Set(FileManager.default.contentsOfDirectory(atPath: folder.file("real"))) == ["words", "words.lock"]
        )
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder.file("links"))) == ["first", "second"])
        #expect(symlink("loop", folder.file("links/loop")) == 0)
        #expect(throws: EnrollmentError.store) {
            try WordStoreFile(path: folder.file("links/loop")).update { $0 = Self.store }
        }
        // Whoever owns the folder of a service must not choose where root writes.
        if geteuid() == 0 {
            #expect(lchown(folder.file("links/first"), 12345, 12345) == 0)
            #expect(throws: EnrollmentError.store) { try file.update { $0 = nil } }
            #expect(try WordStoreFile(path: folder.file("real/words")).read()?.words.count == 1)
        }
    }
}
