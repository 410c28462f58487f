private import Glibc
private import System

/// Properties of standard output and standard error.
enum Terminal {
    static let outputIsTerminal = isatty(STDOUT_FILENO) == 1
    static let errorIsTerminal = isatty(STDERR_FILENO) == 1

    /// Whether to print colours, as https://no-color.org asks.
    static let usesColour: Bool = {
        let environment = OwnEnvironment.variables
        return outputIsTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }()

    /// Whether the terminal moves its cursor as programs tell it.
    static let canMoveCursor: Bool = {
        let name = OwnEnvironment.variables["TERM"] ?? ""
        return !name.isEmpty && name != "dumb"
    }()

    /// Whether the user's locale shows more than ASCII.
    static let isUnicode: Bool = {
        let environment = OwnEnvironment.variables
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        return ["UTF-8", "UTF8"].contains { locale.uppercased().contains($0) }
    }()

    static var panelStyle: LivePanel.Style { LivePanel.Style(hasColour: usesColour, isUnicode: isUnicode) }

    /// Whether standard error is the same terminal as standard output.
    static let errorIsOutput: Bool = {
        guard outputIsTerminal, errorIsTerminal else { return false }
        return device(STDOUT_FILENO) == device(STDERR_FILENO)
    }()

    /// The number of a terminal's device. One that was opened as /dev/tty has the number of the terminal that it stands for.
    private static func device(_ descriptor: Int32) -> UInt64 {
        var number: UInt32 = 0
        // TIOCGDEV, a macro that Swift does not see.
        if ioctl(descriptor, 0x8004_5432, &number) == 0 { return UInt64(number) }
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(status.st_rdev) : .max
    }

    /// Columns and rows of the terminal on standard output; 80 and 24 if unknown.
    static var outputSize: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Columns of the terminal on standard output; nil where it is not a terminal.
    static var outputRoom: Int? { outputIsTerminal ? outputSize.columns : nil }

    /// Columns of the terminal on standard error; nil where it is not a terminal.
    static var errorRoom: Int? { errorIsTerminal ? width : nil }

    /// Columns of the terminal on standard error; 80 if unknown.
    static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
