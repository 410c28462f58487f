private import Core
private import Glibc
private import Synchronization
public import System

/// Why a file of results cannot be begun or gone on with; one line.
public struct ResultsFileError: Error, CustomStringConvertible, Sendable {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Results of many files that survive a kill: a file of results, and beside it a journal of the files that are done.
///
/// What the journal names is complete in the results, and on the disk: once a second the results are written and synced
/// (`fdatasync`), and only then the journal gets the names of the files that ended in them, each with the results' length
/// at its end. Going on cuts the results to the length that the journal's last whole line gives. So a file whose results
/// were cut off is done again, and none is there twice. Any thread.
public final class ResultsFile: Sendable {
    private struct State {
        /// Results that are not written yet.
        var waiting: [UInt8] = []
        /// Length of the results with those that wait.
        var length: Int
        /// Lines for the journal.
        var ended: [UInt8] = []
        var doneBefore: DoneNames
        var failure: SystemError?
        var isFinished = false
    }

    /// Files of earlier runs.
    public let resumed: Int
    /// Those of them that could not be read.
    public let resumedFailures: Int
    /// Whether no results are in it yet, not even a header.
    public let isNew: Bool
    private let path: String
    private let results: FileDescriptor
    private let journal: FileDescriptor
    private let state: Mutex<State>
    /// Held by who saves, so that the journal gets its lines in order.
    private let saving = Mutex(())
    private let stop = Latch()

    /// Results that wait are written from this size on.
    private static let part = 1 << 16

    /// The journal of a file of results.
    public static func journalPath(_ path: String) -> String { path + ".journal" }

    /// Begins or goes on with a file.
    ///
    /// - Parameters:
    ///   - heading: all that the results depend on, as one line; a file is gone on with only under the same heading.
    ///   - resumes: whether to go on with a file that is there; else it is replaced.
    public init(path: String, heading: String, resumes: Bool) throws(ResultsFileError) {
        self.path = path
        let journalPath = Self.journalPath(path)
        let exists = access(FileName.cString(path), F_OK) == 0
        let hasJournal = access(FileName.cString(journalPath), F_OK) == 0
        guard !resumes || hasJournal || !exists else {
            throw Self.error(
                path,
                "cannot be gone on with, because its journal \(printable(journalPath)) is missing; remove it, or choose another --output"
            )
        }
        func opened(_ path: String) -> FileDescriptor {
            FileDescriptor(open(FileName.cString(path), O_RDWR | O_CREAT | O_CLOEXEC, 0o644))
        }
        let results = opened(path)
        guard results.isOpen else { throw Self.error(path, "cannot be written: \(SystemError.text(errno))") }
        guard let status = FileStatus(descriptor: results.rawValue), status.isRegular else {
            throw Self.error(path, "is not a file; without --output, results go to standard output")
        }
        let journal = opened(journalPath)
        guard journal.isOpen else { throw Self.error(journalPath, "cannot be written: \(SystemError.text(errno))") }
        guard flock(journal.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            throw Self.error(path, "is being written by another process; wait for it, or choose another --output")
        }
        var done = JournalContents(heading: Self.header(heading))
        if resumes, hasJournal {
            try done.read(journal.rawValue, path: journalPath, results: path, length: Int(status.size))
        }
        let isNew = done.resultBytes == 0
        let header = done.journalBytes == 0 ? Array(done.heading.utf8) : []
        guard ftruncate(results.rawValue, done.resultBytes) == 0, ftruncate(journal.rawValue, done.journalBytes) == 0,
            lseek(results.rawValue, 0, SEEK_END) >= 0, lseek(journal.rawValue, 0, SEEK_END) >= 0,
            writeAll(header, to: journal.rawValue), fsync(journal.rawValue) == 0
        else { throw Self.error(path, "cannot be written: \(SystemError.text(errno))") }
        Self.syncFolder(of: path)
        resumed = done.names.count
        resumedFailures = done.failures
        self.isNew = isNew
        self.results = results
        self.journal = journal
        var names = done.names
        names.sort()
        state = Mutex(State(length: done.resultBytes, doneBefore: names))
        _ = try SystemThread(
            name: "beckon-results",
            stackSize: 256 << 10,
            or: { Self.error(path, "cannot be written: \($0)") },
            { [self] in
                while !stop.wait(until: Clock.now + .seconds(1)) { save() }
            }
        )
    }

    /// The errno of the first failed write; nil for none. Nothing is written after it.
    public var failure: SystemError? { state.withLock { $0.failure } }

    /// Whether a file was done by an earlier run. A name that was done twice is so for the first two times that it is asked for.
    public func isDone(_ name: String) -> Bool { state.withLock { $0.doneBefore.take(name) } }

    /// Adds results of the file that is next to end.
    public func write(_ text: String) {
        state.withLock { state in
            guard state.failure == nil else { return }
            state.waiting += text.utf8
            state.length += text.utf8.count
            if state.waiting.count >= Self.part { flush(&state) }
        }
    }

    /// Ends a file, whose results are all that was added since the one before ended.
    public func end(_ name: String, hasFailed: Bool) {
        state.withLock { state in
            state.ended += "\(state.length) \(hasFailed ? "failed" : "done") ".utf8
            state.ended += JournalContents.escaped(name)
            state.ended.append(10)
        }
    }

    /// Syncs the results, and then names the files that ended in them in the journal.
    func save() {
        saving.withLock { _ in
            let ended = state.withLock { state in
                flush(&state)
                defer { state.ended = [] }
                return state.failure == nil ? state.ended : []
            }
            guard !ended.isEmpty else { return }
            if fdatasync(results.rawValue) != 0 {
                note(SystemError("fdatasync"))
            } else if !writeAll(ended, to: journal.rawValue) {
                note(SystemError("write"))
            }
        }
    }

    /// Saves all that was added, and ends.
    ///
    /// - Throws: if anything could not be written.
    public func finish() throws(ResultsFileError) {
        stop.open()
        save()
        if failure == nil, fdatasync(journal.rawValue) != 0 { note(SystemError("fdatasync")) }
        flock(journal.rawValue, LOCK_UN)
        guard let failure else { return }
        throw Self.error(
            path,
            "cannot be written (\(SystemError.text(failure.number))); what is in it stays, and --resume goes on with it"
        )
    }

    private func flush(_ state: inout State) {
        guard state.failure == nil, !state.waiting.isEmpty else { return }
        if !writeAll(state.waiting, to: results.rawValue) { state.failure = SystemError("write") }
        state.waiting = []
    }

    private func note(_ failure: SystemError) { state.withLock { $0.failure = $0.failure ?? failure } }

    private static func header(_ heading: String) -> String {
        "beckon-journal 1 " + String(decoding: JournalContents.escaped(heading), as: UTF8.self) + "\n"
    }

    /// Makes the names of new files durable.
    private static func syncFolder(of path: String) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let file = FileDescriptor(open(FileName.cString(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        if file.isOpen { fsync(file.rawValue) }
    }

    private static func error(_ path: String, _ what: String) -> ResultsFileError {
        ResultsFileError("\(printable(path)) \(what)")
    }
}

/// What a journal says: its first line is a heading, each other one the length of the results, `done` or `failed`, and a name.
struct JournalContents {
    let heading: String
    private(set) var names = DoneNames()
    private(set) var failures = 0
    /// Length of the results at the end of the last file.
    private(set) var resultBytes = 0
    /// Length of the journal up to its last whole line.
    private(set) var journalBytes = 0
    private var line = 0

    private static let longestLine = 64 << 10

    init(heading: String) { self.heading = heading }

    /// Reads a journal.
    ///
    /// - Parameter length: bytes of the results.
    mutating func read(
        _ descriptor: Int32,
        path: String,
        results: String,
        length: Int
    ) throws(ResultsFileError) {
        var rest: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw ResultsFileError("\(printable(path)) cannot be read: \(SystemError.text(errno))")
            }
            if count == 0 { break }
            rest += part[..<count]
            var start = 0
            while let end = rest[start...].firstIndex(of: 10) {
                line += 1
                switch take(rest[start..<end]) {
                case .fine: journalBytes += end + 1 - start
                case .otherHeading:
                    throw ResultsFileError(
                        "\(printable(results)) was begun with other options, another model or another version; give the same, "
                            + "or choose another --output"
                    )
                case .damaged: throw damaged(path)
                }
                start = end + 1
            }
            rest.removeFirst(start)
            guard rest.count <= Self.longestLine else { throw damaged(path) }
        }
        guard resultBytes <= length else {
            throw ResultsFileError(
                "\(printable(results)) has \(length) bytes, but had \(resultBytes) when its last file ended; it was changed: "
                    + "remove it and its journal, or choose another --output"
            )
        }
    }

    private enum Verdict { case fine, otherHeading, damaged }

    private mutating func take(_ bytes: ArraySlice<UInt8>) -> Verdict {
        guard line > 1 else { return bytes + [10] == Array(heading.utf8)[...] ? .fine : .otherHeading }
        let fields = bytes.split(separator: 32, maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, let end = Int(digits: fields[0]), end >= resultBytes,
            fields[1].elementsEqual("done".utf8) || fields[1].elementsEqual("failed".utf8)
        else { return .damaged }
        if fields[1].elementsEqual("failed".utf8) { failures += 1 }
        resultBytes = end
        names.add(escaped: fields[2])
        return .fine
    }

    private func damaged(_ path: String) -> ResultsFileError {
        ResultsFileError(
            "\(printable(path)), line \(line): this journal is damaged; remove it and its results, or choose another --output"
        )
    }

    /// A name without spaces and control characters: these and `%` become `%` and two digits.
    static func escaped(_ name: String) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return FileName.bytes(name).flatMap { byte in
            byte > 32 && byte != 37 && byte != 127 ? [byte] : [37, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
}

/// Names of files that are done: 17 bytes each, in place of the name.
struct DoneNames {
    /// A hash of 128 bits, so that no two names are taken for one.
    private struct Key: Comparable {
        let high, low: UInt64

        init(_ escaped: ArraySlice<UInt8>) {
            func hash(_ number: UInt8) -> UInt64 {
                var hasher = Hasher()
                hasher.combine(number)
                escaped.withUnsafeBytes { hasher.combine(bytes: $0) }
                return UInt64(bitPattern: Int64(hasher.finalize()))
            }
            (high, low) = (hash(0), hash(1))
        }

        static func < (left: Key, right: Key) -> Bool { (left.high, left.low) < (right.high, right.low) }
    }

    private var keys: [Key] = []
    private var isTaken: [Bool] = []

    var count: Int { keys.count }

    mutating func add(escaped name: ArraySlice<UInt8>) { keys.append(Key(name)) }

    /// Must be called after the last ``add(escaped:)``.
    mutating func sort() {
        keys.sort()
        isTaken = [Bool](repeating: false, count: keys.count)
    }

    /// Whether the name is there, as often as it was added.
    mutating func take(_ name: String) -> Bool {
        guard !keys.isEmpty else { return false }
        let key = Key(JournalContents.escaped(name)[...])
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        while low < keys.count, keys[low] == key {
            if !isTaken[low] {
                isTaken[low] = true
                return true
            }
            low += 1
        }
        return false
    }
}
