private import Core
private import FoundationEssentials
import Glibc
private import Kernels
import System

/// A word store on disk: one file that is replaced as a whole, so that a reader finds either the old words or the new ones.
public struct WordStoreFile: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    /// Reads the store; nil if the file does not exist.
    ///
    /// - Throws: ``EnrollmentError/store``, ``EnrollmentError/damaged``.
    public func read() throws(EnrollmentError) -> WordStore? {
        let bytes: [UInt8]
        do throws(ReadFileError) {
            bytes = try readFile(path, limit: WordStore.Limit.bytes).bytes
        } catch {
            switch error {
            case .system(SystemError("open", ENOENT)): return nil
            case .system(let error): throw failure(error.call, error.number)
            case .notRegularFile:
                throw .store.saying("\(path): not a regular file; name a word store")
            case .tooLarge(let size):
                throw .damaged.saying("\(path): \(size) bytes, more than a word store can have")
            case .truncated: throw .damaged.saying("\(path): truncated while being read; try again")
            }
        }
        return try WordStore(bytes: bytes, file: path)
    }

    /// Reads the store, changes it and writes it back. A file lock serialises concurrent updates; the call blocks while
    /// another program holds it.
    ///
    /// - Parameter change: gets the store, or nil if there is none, and sets the new one.
    /// - Throws: what `change` throws, ``EnrollmentError/store``, ``EnrollmentError/damaged``. The store on disk is then unchanged.
    public func update(_ change: (inout WordStore?) throws(EnrollmentError) -> Void) throws(EnrollmentError) {
        let lock = try openLock()
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure("flock", errno) }
        }
        var store = try read()
        try change(&store)
        if let store { try write(try store.encoded()) }
    }

    /// Checks that the store can be changed; call it before the user records takes.
    ///
    /// - Throws: ``EnrollmentError/store``.
    public func checkChangeable() throws(EnrollmentError) { close(try openLock()) }

    /// Writes the store to a new file, for example to copy it to another machine.
    ///
    /// - Throws: ``EnrollmentError/store``, also if the file exists.
    public func create(_ store: WordStore) throws(EnrollmentError) {
        guard access(path, F_OK) != 0 else { throw .store.saying("\(path): this file exists already; name another") }
        try write(try store.encoded())
    }

    /// Opens the lock, a separate file: each change replaces the store's file, and a lock on that would be lost.
    private func openLock() throws(EnrollmentError) -> Int32 {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw failure("open", errno) }
        giveToFolderOwner(lock)
        return lock
    }

    /// Writes to a temporary file, syncs it and renames it.
    private func write(_ bytes: [UInt8]) throws(EnrollmentError) {
        let temporary = path + ".new"
        // Left by a program that died while writing: the lock excludes other writers.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open", errno) }
        defer { close(descriptor) }
        do throws(EnrollmentError) {
            guard writeAll(bytes, to: descriptor) else { throw failure("write", errno) }
            giveToFolderOwner(descriptor)
            guard fsync(descriptor) == 0 else { throw failure("fsync", errno) }
            guard rename(temporary, path) == 0 else { throw failure("rename", errno) }
        } catch {
            unlink(temporary)
            throw error
        }
        syncFolder()
    }

    /// Gives a file that root writes to the owner of its folder, so that the service can read what root taught.
    private func giveToFolderOwner(_ descriptor: Int32) {
        guard geteuid() == 0, let folder = try? FileStatus(path: folder), folder.owner != 0 else { return }
        _ = fchown(descriptor, folder.owner, folder.group)
    }

    private var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

    /// Makes the rename durable. Without it, a power failure may bring back the old store.
    private func syncFolder() {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private func failure(_ function: String, _ number: Int32) -> EnrollmentError {
        .store.saying(
            "\(path): \(function): \(SystemError.text(number)); the folder must exist and be writable for you"
        )
    }
}

// MARK: - Format

// A store as bytes, all numbers little-endian:
//
//     magic and version   8 bytes, "BECKONW" 1
//     length of header    UInt64
//     header              JSON, see `Header`
//     numbers             of each take in the header's order: templates, Float32; audio, Int16
//     checksum            UInt64, FNV-1a of all bytes before
private let magic: [UInt8] = Array("BECKONW".utf8) + [1]
private let checksumBytes = 8

/// The header in JSON, with sorted keys.
private struct Header: Codable {
    struct Take: Codable {
        let templates: Int
        let templateSpacing: Int
        let samples: Int

        enum CodingKeys: String, CodingKey {
            case templates = "anchors"
            case templateSpacing = "lag"
            case samples
        }
    }

    struct Word: Codable {
        let name: String
        let threshold: Float
        let boundary: Float
        /// By sensitivity and mode; missing in files of earlier versions.
        let sensitivities: [String: [String: Float]]?
        let takes: [Take]

        /// The table of `sensitivities`; nil for a threshold outside 0…1. Names of later versions are left out.
        var table: SensitivityTable<Float>? {
            var table = SensitivityTable<Float>()
            for (name, modes) in sensitivities ?? [:] {
                for (modeName, threshold) in modes {
                    guard (0...1).contains(threshold) else { return nil }
                    guard let sensitivity = Sensitivity(rawValue: name), let mode = DetectionMode(rawValue: modeName)
                    else { continue }
                    table[sensitivity, mode] = threshold
                }
            }
            return table
        }

        static func members(of table: SensitivityTable<Float>) -> [String: [String: Float]]? {
            var members: [String: [String: Float]] = [:]
            for mode in DetectionMode.allCases {
                for sensitivity in table.sensitivities(mode: mode) {
                    members[sensitivity.rawValue, default: [:]][mode.rawValue] = table[sensitivity, mode]
                }
            }
            return members.isEmpty ? nil : members
        }
    }

    let embedding: String
    let dimensions: Int
    let words: [Word]
}

extension WordStore {
    /// The store as bytes.
    ///
    /// - Throws: ``EnrollmentError/store`` for a threshold or boundary that is not finite.
    func encoded() throws(EnrollmentError) -> [UInt8] {
        let dimensions = words.lazy.flatMap(\.takes).flatMap(\.templates).first?.count ?? 0
        let content = Header(
            embedding: embedding,
            dimensions: dimensions,
            words: words.map { word in
                let takes = word.takes.map {
                    Header.Take(
                        templates: $0.templates.count,
                        templateSpacing: $0.templateSpacing,
                        samples: $0.audio.count
                    )
                }
                return Header.Word(
                    name: word.name,
                    threshold: word.threshold,
                    boundary: word.boundary,
                    sensitivities: Header.Word.members(of: word.sensitivities),
                    takes: takes
                )
            }
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let header = try? encoder.encode(content) else {
            throw .store.saying("a threshold or boundary is not a finite number; this is a defect of beckon")
        }
        var bytes = magic
        append(UInt64(header.count), to: &bytes)
        bytes += header
        for take in words.lazy.flatMap(\.takes) {
            for number in take.templates.joined() { append(number.bitPattern, to: &bytes) }
            for sample in take.audio { append(UInt16(bitPattern: sample), to: &bytes) }
        }
        append(checksum(bytes[...]), to: &bytes)
        return bytes
    }

    /// Decodes a store.
    ///
    /// - Parameter file: name for error messages.
    /// - Throws: ``EnrollmentError/damaged``; ``EnrollmentError/name`` for a word with an invalid name.
    init(bytes: [UInt8], file: String) throws(EnrollmentError) {
        func damaged(_ what: String) -> EnrollmentError { .damaged.saying("\(file): \(what)") }

        guard bytes.starts(with: magic.dropLast()) else {
            throw damaged("not a word store; name one that beckon wrote")
        }
        guard bytes.starts(with: magic) else { throw damaged("written by a newer beckon; update this one") }
        guard bytes.count >= magic.count + 8 + checksumBytes else { throw damaged("cut short; restore it from a copy") }
        let body = bytes.dropLast(checksumBytes)
        var end = Reader(bytes.suffix(checksumBytes))
        guard end.number(UInt64.self) == checksum(body) else {
            throw damaged("damaged, its checksum does not match; restore it from a copy")
        }
        var reader = Reader(body.dropFirst(magic.count))
        guard let length = reader.number(UInt64.self), let json = reader.bytes(Int(clamping: length)),
            let header = try? JSONDecoder().decode(Header.self, from: Data(json))
        else { throw damaged("its header cannot be read; restore it from a copy") }
        self.init(embedding: header.embedding)
        guard header.words.count <= Limit.words, (0...Limit.dimensions).contains(header.dimensions) else {
            throw damaged("more words, or larger vectors, than the limits allow")
        }
        for word in header.words {
            try WordStore.check(name: word.name)
            guard self[word.name] == nil else { throw damaged("contains the word '\(word.name)' twice") }
            guard word.takes.count <= Limit.takes, (0...1).contains(word.threshold),
                (-2...2).contains(word.boundary), let sensitivities = word.table
            else {
                throw damaged("the word '\(word.name)' has too many takes or an impossible threshold")
            }
            let takes = word.takes.compactMap { reader.take($0, dimensions: header.dimensions) }
            guard takes.count == word.takes.count else { throw damaged("the takes of '\(word.name)' are incomplete") }
            words.append(
                Word(
                    name: word.name,
                    threshold: word.threshold,
                    sensitivities: sensitivities,
                    boundary: word.boundary,
                    takes: takes
                )
            )
        }
        guard reader.isAtEnd else { throw damaged("continues after its last word") }
    }
}

/// Reads numbers in sequence; nil at the end of the bytes.
private struct Reader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        bytes(MemoryLayout<Number>.size)?.reversed().reduce(0) { $0 << 8 | Number($1) }
    }

    /// - Returns: nil also for a take beyond the limits, or with numbers that are not finite.
    mutating func take(_ take: Header.Take, dimensions: Int) -> WordStore.Take? {
        guard (1...WordStore.Limit.templates).contains(take.templates), (0...100).contains(take.templateSpacing),
            (0...WordStore.Limit.audio).contains(take.samples), dimensions > 0
        else { return nil }
        var templates: [[Float]] = []
        for _ in 0..<take.templates {
            let vector = (0..<dimensions).compactMap { _ in number(UInt32.self).map(Float.init(bitPattern:)) }
            guard vector.count == dimensions, vector.allSatisfy(\.isFinite) else { return nil }
            templates.append(vector)
        }
        let audio = (0..<take.samples).compactMap { _ in number(UInt16.self).map(Int16.init(bitPattern:)) }
        guard audio.count == take.samples else { return nil }
        return WordStore.Take(templates: templates, templateSpacing: take.templateSpacing, audio: audio)
    }
}

private func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
}

private func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.withUnsafeBytes { buffer in
        buffer.baseAddress.map { fnv1a($0, count: buffer.count, from: fnvBasis) } ?? fnvBasis
    }
}
