import Foundation
import Glibc

/// A pseudo-terminal and the screen that it shows.
final class PseudoTerminal {
    private let master: Int32
    private let path: String
    private(set) var screen: ScreenEmulator
    /// All that was written so far.
    private(set) var written = ""

    init(columns: Int, rows: Int) throws {
        master = Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // TIOCSPTLCK and TIOCGPTN, in place of unlockpt and ptsname, which Swift does not see.
        var (isLocked, number): (Int32, UInt32) = (0, 0)
        guard master >= 0, ioctl(master, 0x4004_5431, &isLocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw CocoaError(.fileReadUnknown)
        }
        path = "/dev/pts/\(number)"
        screen = ScreenEmulator(columns: columns, rows: rows)
        setSize(columns, rows)
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
    }

    deinit { close(master) }

    /// The end for a program, for `Process`.
    func open() throws -> FileHandle {
        let descriptor = Glibc.open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CocoaError(.fileReadUnknown) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Another size. A program for which it is not a controlling terminal must be sent SIGWINCH.
    func resize(columns: Int, rows: Int) {
        update()
        setSize(columns, rows)
        screen.resize(columns: columns, rows: rows)
    }

    private func setSize(_ columns: Int, _ rows: Int) {
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    /// Takes what the program has written.
    func update() {
        var part = [UInt8](repeating: 0, count: 1 << 16)
        var bytes: [UInt8] = []
        while true {
            let count = read(master, &part, part.count)
            guard count > 0 else { break }
            bytes += part.prefix(count)
        }
        let text = String(decoding: rest + bytes, as: UTF8.self)
        // A character may come in two parts.
        if text.hasSuffix("\u{FFFD}"), rest.count + bytes.count < 1 << 20 {
            rest += bytes
            return
        }
        rest = []
        written += text
        screen.write(text)
    }

    private var rest: [UInt8] = []

    func type(_ text: String) { _ = write(master, text, text.utf8.count) }

    /// Whether typed keys are shown.
    var echoes: Bool {
        var settings = termios()
        return tcgetattr(master, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }
}
