private import Core
private import Glibc
private import Synchronization
private import System

/// The terminal that a panel is drawn on: its size, its echo of typed keys, and whether this program is in its foreground.
///
/// Keys that are typed while a panel is shown would be printed into it, and `^C` with Ctrl-C.
final class PanelTerminal: Sendable {
    private struct State {
        /// The settings to restore; nil while the echo is as it was.
        var saved: termios?
        var isHidden = false
        var size = (columns: 0, rows: 0)
        var drawing = PanelDrawing()
    }

    private let state = Mutex(State())

    /// The next frame: new lines, and the panel below them. Called on the thread that writes to the terminal.
    ///
    /// - Parameter panel: makes the panel's lines for a size.
    func frame(_ text: String, _ panel: (_ columns: Int, _ rows: Int) -> [String]) -> String {
        state.withLock { state in
            let isShown = !state.isHidden && Self.isForeground
            setEcho(!isShown, &state)
            let size = Terminal.outputSize
            let isResized = size != state.size
            state.size = size
            return state.drawing.frame(
                text,
                above: isShown ? panel(size.columns, size.rows) : [],
                isResized: isResized
            )
        }
    }

    /// From now on frames have no panel; restores the terminal's settings. The next frame erases the panel.
    func hide() {
        state.withLock { state in
            state.isHidden = true
            setEcho(true, &state)
        }
    }

    /// From now on frames have a panel again.
    func show() { state.withLock { $0.isHidden = false } }

    private static var isForeground: Bool {
        let group = tcgetpgrp(STDOUT_FILENO)
        // It is not the controlling terminal: nobody else uses it.
        return group < 0 || group == getpgrp()
    }

    private func setEcho(_ isOn: Bool, _ state: inout State) {
        guard isOn == (state.saved != nil) else { return }
        var settings = termios()
        if isOn {
            guard let saved = state.saved else { return }
            settings = saved
            state.saved = nil
        } else {
            guard tcgetattr(STDOUT_FILENO, &settings) == 0 else { return }
            state.saved = settings
            settings.c_lflag &= ~tcflag_t(ECHO)
        }
        // In the background, this would otherwise stop the program.
        var stops = sigset_t()
        var before = sigset_t()
        sigemptyset(&stops)
        sigaddset(&stops, SIGTTOU)
        pthread_sigmask(SIG_BLOCK, &stops, &before)
        if Self.isForeground {
            // Not TCSAFLUSH, which waits until a stalled terminal has taken all output.
            tcsetattr(STDOUT_FILENO, TCSANOW, &settings)
            // What was typed meanwhile is dropped, because the shell would take it for a command.
            if isOn { tcflush(STDOUT_FILENO, TCIFLUSH) }
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
