import Core
private import FoundationEssentials
private import Glibc
private import Synchronization
private import System

/// Writes to standard output and standard error.
///
/// If standard output takes no more, as on a full disk, the command ends: ``hasFailed`` is what ``Interrupt/isRequested`` asks
/// for too, and the program's exit status is 1. A reader that went away, as with `| head`, ends the program by SIGPIPE.
enum Output {
    /// The first error of writing to standard output, other than EPIPE; 0 for none.
    private static let error = Atomic<Int32>(0)

    /// Whether standard output takes no more.
    static var hasFailed: Bool { error.load(ordering: .relaxed) != 0 }

    /// What the user is told of that; nil while all is well.
    static var failure: Failure? {
        let number = error.load(ordering: .relaxed)
        return number == 0 ? nil : Failure("cannot write to standard output: \(SystemError.text(number))")
    }

    /// Writes to standard output; nothing once that has failed, as a part in the middle would be missing.
    static func write(_ text: String) {
        guard !hasFailed, !writeAll(Array(text.utf8), to: STDOUT_FILENO) else { return }
        let number = errno
        // Where SIGPIPE is ignored, the reader has enough; a service goes on without one.
        if number != EPIPE { _ = error.compareExchange(expected: 0, desired: number, ordering: .relaxed) }
    }

    /// Writes to standard error; a failure cannot be reported anywhere.
    static func writeError(_ text: String) { _ = writeAll(Array(text.utf8), to: STDERR_FILENO) }

    /// A message on standard error, of one or more lines: with its priority if the journal reads them, else with the program's name.
    ///
    /// Nothing once standard output has failed: the command ends for that reason, which is then the only message.
    static func tell(_ priority: LogLevel, _ text: String) {
        if !hasFailed { tellAnyway(priority, text) }
    }

    /// Also when standard output has failed.
    static func tellAnyway(_ priority: LogLevel, _ text: String) {
        let mark = errorIsJournal ? "<\(priority.syslogPriority)>" : "beckon: "
        writeError(text.split(separator: "\n").map { "\(mark)\($0)\n" }.joined())
    }

    /// Whether standard error is the stream to the journal that systemd names; a program started with another one may still see
    /// the variable.
    private static let errorIsJournal: Bool = {
        guard let stream = ProcessInfo.processInfo.environment["JOURNAL_STREAM"],
            let status = FileStatus(descriptor: STDERR_FILENO)
        else { return false }
        return stream == "\(status.device):\(status.inode)"
    }()
}
