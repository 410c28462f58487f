private import Glibc

/// Single keys of the terminal while takes are recorded. The terminal is as before when this value is gone.
final class TakeKeys {
    enum Key { case play, redo, done }

    private var before = termios()

    /// Nil unless standard input and standard error are a terminal, whose foreground program this is.
    init?() {
        guard Terminal.errorIsTerminal, isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp(),
            tcgetattr(STDIN_FILENO, &before) == 0
        else { return nil }
        var single = before
        // Keys come one by one and are not shown; Ctrl-C still interrupts.
        single.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard tcsetattr(STDIN_FILENO, TCSANOW, &single) == 0 else { return nil }
    }

    deinit {
        tcsetattr(STDIN_FILENO, TCSANOW, &before)
    }

    /// The next key that means something; nil if none was pressed. Does not wait.
    func next() -> Key? {
        var request = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        while poll(&request, 1, 0) > 0, request.revents & Int16(POLLIN) != 0 {
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1 else { return nil }
            switch byte {
            case UInt8(ascii: "p"), UInt8(ascii: "P"): return .play
            case UInt8(ascii: "r"), UInt8(ascii: "R"): return .redo
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return .done
            default: continue
            }
        }
        return nil
    }
}
