private import Core
private import Glibc
private import Synchronization
public import System

/// Why a file of results cannot be begun or resumed; one line.
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
        var chain: JournalChain
        /// Lines for the journal.
        var ended: [UInt8] = []
        var doneBefore: DoneNames
        var failure: SystemError?
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

    /// Begins or resumes a file.
    ///
    /// - Parameters:
    ///   - heading: all that the results depend on, as one line; a file is resumed only under the same heading.
    ///   - resumes: whether to go on with a file that is there; else it is replaced.
    public init(path: String, heading: String, resumes: Bool) throws(ResultsFileError) {
        self.path = path
        let journalPath = Self.journalPath(path)
        let exists = fileExists(path)
        // Also a link that leads nowhere.
        let hasJournal = faccessat(AT_FDCWD, FileName.cString(journalPath), F_OK, AT_SYMLINK_NOFOLLOW) == 0
        guard !resumes || hasJournal || !exists else {
            throw Self.error(
                path,
                "cannot be resumed, because its journal \(printable(journalPath)) is missing; remove it, or choose another --output"
            )
        }
        // Emptied only when the journal is known to be this file's.
        var results = try Self.open(path, isNew: false)
        guard let status = FileStatus(descriptor: results.rawValue), status.isRegular else {
            throw Self.error(path, "is not a file; without --output, results go to standard output")
        }
        // Nobody names the journal, so that what lies there under its name may be anybody's: a link is not followed.
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW
        let journal = FileDescriptor(Glibc.open(FileName.cString(journalPath), flags, 0o644))
        guard journal.isOpen || errno == ELOOP else {
            throw Self.error(journalPath, "cannot be written: \(SystemError.text(errno))")
        }
        guard journal.isOpen, let journalStatus = FileStatus(descriptor: journal.rawValue), journalStatus.isRegular,
            journalStatus.names == 1
        else {
            throw Self.error(
                journalPath,
                "is not a journal of results, but a link, or no regular file; remove it, or choose another --output"
            )
        }
        guard flock(journal.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            throw Self.error(path, "is being written by another process; wait for it, or choose another --output")
        }
        guard JournalContents.isOwn(journal.rawValue) else {
            throw Self.error(
                journalPath,
                "is not a journal of results, and is not replaced; remove it, or choose another --output"
            )
        }
        var done = JournalContents(heading: heading)
        if resumes, hasJournal {
            try done.read(journal.rawValue, path: journalPath, results: path, length: Int(status.size))
        }
        let isNew = done.resultBytes == 0
        let header = done.journalBytes == 0 ? done.begin() : []
        // What the file has under other names stays as it is.
        if isNew, status.names > 1 { results = try Self.open(path, isNew: true) }
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
        state = Mutex(State(length: done.resultBytes, chain: done.chain, doneBefore: names))
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
            let text = Array("\(state.length) \(hasFailed ? "failed" : "done") ".utf8) + JournalContents.escaped(name)
            state.ended += state.chain.line(text)
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
            "cannot be written (\(SystemError.text(failure.number))); what is in it stays, and --resume continues it"
        )
    }

    private func flush(_ state: inout State) {
        guard state.failure == nil, !state.waiting.isEmpty else { return }
        if !writeAll(state.waiting, to: results.rawValue) { state.failure = SystemError("write") }
        state.waiting = []
    }

    private func note(_ failure: SystemError) { state.withLock { $0.failure = $0.failure ?? failure } }

    /// Makes the names of new files durable.
    private static func syncFolder(of path: String) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let file = FileDescriptor(Glibc.open(FileName.cString(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        if file.isOpen { fsync(file.rawValue) }
    }

    private static func open(_ path: String, isNew: Bool) throws(ResultsFileError) -> FileDescriptor {
        do throws(NamedFileError) {
            return try NamedFile.open(path, mode: 0o644, isNew: isNew)
        } catch {
            throw Self.error(path, "cannot be written: \(error)")
        }
    }

    private static func error(_ path: String, _ what: String) -> ResultsFileError {
        ResultsFileError("\(printable(path)) \(what)")
    }
}
