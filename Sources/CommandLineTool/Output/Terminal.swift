import Core
private import FoundationEssentials
private import Glibc

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

    static func output(_ text: String) { Output.write(text) }

    static func error(_ text: String) { Output.writeError(text) }

    static func tell(_ priority: LogLevel, _ text: String) { Output.tell(priority, text) }
}
