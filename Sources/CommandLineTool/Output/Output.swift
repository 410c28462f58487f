import Actions
import Core
import Events
private import Glibc
private import Synchronization
private import System

/// Writes to standard output and standard error.
///
/// If a write to standard output fails, for example because the disk is full, the command ends:
/// ``Interrupt/isRequested`` includes ``hasFailed``, and the exit status is 1. If the reader has gone, as with `|
/// head`, SIGPIPE ends the program, also where the parent process ignored it.
enum Output {
    /// The errno of the first failed write to standard output, except EPIPE; 0 for none.
    private static let error = Atomic<Int32>(0)

    /// Whether a write to standard output has failed.
    static var hasFailed: Bool { error.load(ordering: .relaxed) != 0 }

    /// The error message of the failed write; nil if there was none.
    static var failure: Failure? {
        let number = error.load(ordering: .relaxed)
        return number == 0 ? nil : Failure("cannot write to standard output: \(SystemError.text(number))")
    }

    /// Writes to standard output. After a failure it writes nothing, because the output would have a hole.
    static func write(_ text: String) { write(bytes: Array(text.utf8)) }

    /// Like ``write(_:)``, for text that people read: on a terminal, see ``fitted(_:columns:hanging:)``.
    static func writeText(_ text: String, hanging: Int = 2) {
        write(fitted(text, columns: Terminal.outputRoom, hanging: hanging))
    }

    /// Like ``write(_:)``, for what is not text.
    static func write(bytes: [UInt8]) {
        guard !hasFailed, !writeAll(bytes, to: STDOUT_FILENO) else { return }
        let number = errno
        if number == EPIPE { endWithoutReader() }
        note(failure: number)
    }

    /// Ends the program as SIGPIPE does.
    static func endWithoutReader() {
        signal(SIGPIPE, SIG_DFL)
        var pipe = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_UNBLOCK, &pipe, nil)
        raise(SIGPIPE)
    }

    /// Notes the errno of a failed write to standard output; the first one counts.
    static func note(failure number: Int32) {
        // EPIPE is no failure: the reader has gone, and a service with actions goes on without it.
        if number != EPIPE { _ = error.compareExchange(expected: 0, desired: number, ordering: .relaxed) }
    }

    /// Writes to standard error; a failure cannot be reported anywhere.
    static func writeError(_ text: String) { _ = writeAll(Array(text.utf8), to: STDERR_FILENO) }

    /// Like ``writeError(_:)``, for text that people read: on a terminal, see ``fitted(_:columns:hanging:)``.
    static func writeErrorText(_ text: String) { writeError(fitted(text, columns: Terminal.errorRoom)) }

    /// Writes a message of one or more lines to standard error, made ``printable(_:)``. Each line begins with the priority if the journal reads
    /// standard error, else with the program's name.
    ///
    /// After standard output has failed it writes nothing: that failure ends the command, and is its only message.
    static func report(_ priority: LogLevel, _ text: String) {
        if !hasFailed { reportAnyway(priority, text) }
    }

    /// Like ``report(_:_:)``, even after standard output has failed.
    static func reportAnyway(_ priority: LogLevel, _ text: String) { writeError(marked(priority, text)) }

    /// The lines of a message as ``report(_:_:)`` writes them; on a terminal they are broken at spaces.
    static func marked(_ priority: LogLevel, _ text: String) -> String {
        let mark = errorIsJournal ? "<\(priority.syslogPriority)>" : "beckon: "
        let lines = text.split(separator: "\n").map { "\(mark)\(printable(String($0)))\n" }.joined()
        return fitted(lines, columns: Terminal.errorRoom)
    }

    private static let errorIsJournal = isJournal(STDERR_FILENO)

    /// Writes entries with fields where the journal reads standard output; nil where it does not.
    static let outputJournal = isJournal(STDOUT_FILENO) ? Journal() : nil

    /// Writes an entry with fields where the journal reads standard error, for a ``ServiceLog``; nil where it does not.
    static let errorEntry: (@Sendable (LogLevel, String, [ServiceLog.Field]) -> Bool)? = {
        guard errorIsJournal else { return nil }
        let journal = Journal()
        return { level, text, fields in (try? journal.write(printable(text), level: level, fields: fields)) != nil }
    }()

    /// Whether a stream is the one named in `JOURNAL_STREAM`. The variable alone is not enough: a program inherits it even if its streams are
    /// redirected.
    private static func isJournal(_ descriptor: Int32) -> Bool {
        guard let stream = OwnEnvironment.variables["JOURNAL_STREAM"],
            let status = FileStatus(descriptor: descriptor)
        else { return false }
        return stream == "\(status.device):\(status.inode)"
    }
}
