import Glibc
import System

/// Follows a started program: reads its standard error, and ends its process group when it takes too long.
struct Supervision {
    private enum Phase { case running, asked, killed }

    private let pid: pid_t
    private let timeout: Double
    private let grace: Double
    private let stop: EventFD?
    private var phase = Phase.running
    private var isStopping = false
    private var deadline: Int64
    private var tail = Tail()

    /// - Parameter pid: of the group's leader, not waited for by anybody else.
    init(pid: pid_t, timeout: Double, grace: Double, stop: EventFD?) {
        self.pid = pid
        self.timeout = timeout
        self.grace = grace
        self.stop = stop
        deadline = Clock.now + Int64(timeout * 1e9)
    }

    /// Returns when nothing of the group is left, or nothing more can be done.
    ///
    /// - Parameters:
    ///   - watch: readable once the program has ended; negative where the system cannot tell.
    ///   - output: its standard error, not blocking.
    mutating func run(watch: Int32, output: Int32, ended: (ProgramEnd) -> Void) {
        var requests = [
            Poll.request(watch, POLLIN), Poll.request(output, POLLIN),
            Poll.request(stop?.descriptor ?? -1, POLLIN),
        ]
        var status: Int32 = 0
        while waitpid(pid, &status, WNOHANG) == 0 {
            // Without a watch, it is looked for every few milliseconds.
            let soon = watch < 0 ? min(deadline, Clock.now + 5_000_000) : deadline
            Poll.wait(&requests, until: soon)
            if requests[1].revents != 0, !readOutput(output) { requests[1].fd = -1 }
            if requests[2].revents != 0 {
                requests[2].fd = -1
                isStopping = true
                deadline = Clock.now
            }
            if Clock.now >= deadline, !endGroup() { break }
        }
        // What is left in the pipe, of which others of the group may write more and more.
        for _ in 0..<32 where !readOutput(output) { break }
        ended(ProgramEnd(reason: reason(status), errorTail: tail.line))
        waitForGroup(requests, output: output)
    }

    private func reason(_ status: Int32) -> ProgramEnd.Reason {
        if phase != .running { return isStopping ? .stopped : .timedOut(seconds: timeout) }
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
    }

    /// Takes one piece of output; false when there is no more now, or ever.
    private mutating func readOutput(_ output: Int32) -> Bool {
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = read(output, &piece, piece.count)
        guard count > 0 else { return count < 0 && errno == EINTR }
        tail.add(piece.prefix(count))
        return true
    }

    /// One step further: first asks the group to end, then ends it. False when that was long ago.
    private mutating func endGroup() -> Bool {
        switch phase {
        case .running:
            phase = .asked
            kill(-pid, SIGTERM)
            // What is stopped cannot end.
            kill(-pid, SIGCONT)
        case .asked:
            phase = .killed
            kill(-pid, SIGKILL)
        case .killed: return false
        }
        deadline = Clock.now + Int64(grace * 1e9)
        return true
    }

    /// What the program left in the background may go on until the time-out. While any of it lives, the system gives the
    /// group's number to nobody else.
    private mutating func waitForGroup(_ requests: [pollfd], output: Int32) {
        // The program's own end has been seen.
        var requests = Array(requests.dropFirst())
        while kill(-pid, 0) == 0 || errno == EPERM {
            Poll.wait(&requests, until: min(deadline, Clock.now + 20_000_000))
            if requests[0].revents != 0, !readOutput(output) { requests[0].fd = -1 }
            if requests[1].revents != 0 {
                requests[1].fd = -1
                deadline = Clock.now
            }
            if Clock.now >= deadline, !endGroup() { return }
        }
    }
}
