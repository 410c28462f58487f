import Core
private import FoundationEssentials
private import Glibc
private import System

/// What the standard streams are, and writing to them.
enum Terminal {
    static let outputIsTerminal = isatty(STDOUT_FILENO) == 1
    static let errorIsTerminal = isatty(STDERR_FILENO) == 1

    /// Colour only on a terminal that wants it: see https://no-color.org.
    static let usesColour: Bool = {
        let environment = ProcessInfo.processInfo.environment
        return outputIsTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }()

    /// Columns of the terminal on standard error, 80 where it does not say.
    static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    static func output(_ text: String) { write(text, to: STDOUT_FILENO) }

    static func error(_ text: String) { write(text, to: STDERR_FILENO) }

    /// A message on standard error, a line or more: with its priority where the journal reads them, else with our name.
    static func tell(_ priority: LogLevel, _ text: String) {
        let mark = errorIsJournal ? "<\(priority.number)>" : "beckon: "
        error(text.split(separator: "\n").map { "\(mark)\($0)\n" }.joined())
    }

    /// systemd names the stream that it gave to the journal; what was started with another one may still see the name.
    private static let errorIsJournal: Bool = {
        guard let stream = ProcessInfo.processInfo.environment["JOURNAL_STREAM"],
            let status = FileStatus(descriptor: STDERR_FILENO)
        else { return false }
        return stream == "\(status.device):\(status.inode)"
    }()

    private static func write(_ text: String, to descriptor: Int32) {
        // A reader that went away (`| head`) ends the program by SIGPIPE; any other failure cannot be told.
        _ = writeAll(Array(text.utf8), to: descriptor)
    }
}
