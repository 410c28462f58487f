import Core
import Glibc
import System

/// A program that an action runs: started without a shell, in its own process group, and supervised until it ends.
///
/// It gets `input` on standard input, standard output at /dev/null, and a pipe as standard error; no other file
/// descriptor is inherited. Signal dispositions and scheduling policy are the defaults. Processes that it leaves in the
/// background may run until the timeout. A child that leaves the process group (`setsid`) is not ended by the timeout;
/// systemd ends it with the service.
struct Program: Sendable {
    /// The absolute path of the program, then its arguments.
    let arguments: [String]
    let directory: String
    /// Each as `NAME=value`.
    let environment: [String]
    /// At most 4096 bytes, which a pipe always takes without a reader.
    let input: [UInt8]
    /// Seconds.
    let timeout: Double
    /// Seconds between SIGTERM and SIGKILL.
    var grace = 1.0

    /// Starts the program and waits until all processes of its group have ended.
    ///
    /// - Parameters:
    ///   - stop: when signalled, ends the program early.
    ///   - ended: called when the program itself has ended; other processes of its group may still run.
    /// - Throws: ``ActionError/program`` if it cannot be started.
    func run(stop: EventFD?, ended: (ProgramEnd) -> Void) throws(ActionError) {
        do throws(SystemError) {
            let standardInput = try Pipe()
            let standardError = try Pipe()
            standardInput.write.setNonBlocking()
            let written = input.withUnsafeBytes { write(standardInput.write.rawValue, $0.baseAddress, $0.count) }
            guard written == input.count else { throw SystemError("write", written < 0 ? errno : EMSGSIZE) }

            var launch = ProcessLaunch(
                path: arguments.first ?? "",
                arguments: Array(arguments.dropFirst()),
                environment: environment
            )
            launch.directory = directory
            launch.input = .descriptor(standardInput.read.rawValue)
            launch.output = .null
            launch.error = .descriptor(standardError.write.rawValue)
            launch.isIsolated = true
            let pid = try spawn(launch)
            let watch = processDescriptor(pid)
            // Only the child may hold its ends of the pipes: else it would never read EOF, and neither would we.
            standardInput.close()
            let output = standardError.keepReading()
            output.setNonBlocking()
            var supervision = Supervision(pid: pid, timeout: timeout, grace: grace, stop: stop)
            supervision.run(watch: watch.rawValue, output: output.rawValue, ended: ended)
            if !supervision.hasEnded { Self.waitLater(pid) }
        } catch {
            throw .program.saying(
                "cannot start \(arguments.first ?? ""): \(error); \(error.remedy("check the path and its permissions"))"
            )
        }
    }
}

extension Program {
    /// Waits on a thread of its own for a program that SIGKILL did not end in time, as on a disk that does not answer or a
    /// machine that is too busy: otherwise it would stay in the system's table of processes as long as the service runs.
    private static func waitLater(_ pid: pid_t) {
        // If there is no thread, it stays there.
        func same(_ error: SystemError) -> SystemError { error }
        _ = try? SystemThread(name: "beckon-wait", stackSize: 128 << 10, or: same) {
            while waitpid(pid, nil, 0) < 0, errno == EINTR {}
        }
    }
}

// MARK: - How it ended

/// How a program ended, and the end of its standard error.
public struct ProgramEnd: Equatable, Sendable {
    /// Why the program ended: its exit status, a signal, or the runner.
    public enum Reason: Equatable, Sendable {
        case exited(Int32)
        case signalled(Int32)
        /// The system did not say how it ended: another part of the process has waited for it.
        case unknown
        /// It took longer than its timeout; its whole process group was ended.
        case timedOut(seconds: Double)
        /// It was ended because the service stopped.
        case stopped
    }

    /// Why the program ended.
    public let reason: Reason
    /// The last 1 KiB of standard error at most; line ends are replaced by slashes.
    public let errorTail: String

    /// Whether nothing needs to be reported: exit status 0, or ended because the service stopped.
    public var isSuccess: Bool { reason == .exited(0) || reason == .stopped }

    /// Whether it took longer than its timeout.
    public var isLate: Bool { if case .timedOut = reason { true } else { false } }

    /// What went wrong, on one line for the log.
    public var description: String {
        let what =
            switch reason {
            case .exited(let status): "exit status \(status)"
            case .unknown: "ended, and the system does not say how"
            case .signalled(let number): "ended by signal \(number)\(Self.name(ofSignal: number))"
            case .timedOut(let seconds): "took longer than \(shortest(seconds)) s and was ended"
            case .stopped: "was ended because the service is stopping"
            }
        return errorTail.isEmpty ? what : "\(what); it said: \(errorTail)"
    }

    private static func name(ofSignal number: Int32) -> String {
        let text: UnsafeMutablePointer<CChar>? = strsignal(number)
        return text.map { " (\(String(cString: $0)))" } ?? ""
    }
}

/// Keeps the last ``capacity`` bytes of a stream.
struct Tail {
    static let capacity = 1024

    private var bytes: [UInt8] = []
    private var isCut = false

    mutating func add(_ new: some Collection<UInt8>) {
        bytes += new
        guard bytes.count > Self.capacity else { return }
        bytes.removeFirst(bytes.count - Self.capacity)
        isCut = true
    }

    /// The kept bytes as one line; begins with an ellipsis if earlier bytes were dropped.
    var line: String {
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        return (isCut ? "…" : "") + lines.joined(separator: " / ")
    }
}

/// Supervises a started program: reads its standard error, and ends its process group at the timeout.
struct Supervision {
    private enum Phase { case running, asked, killed }

    private let pid: pid_t
    private let timeout: Double
    private var grace: Double
    private let stop: EventFD?
    private var phase = Phase.running
    /// Whether the program itself has ended, and was waited for.
    private(set) var hasEnded = false
    private var isStopping = false
    private var deadline: Instant
    private var tail = Tail()

    /// - Parameter pid: the group's leader; no other code may wait for it.
    init(pid: pid_t, timeout: Double, grace: Double, stop: EventFD?) {
        self.pid = pid
        self.timeout = timeout
        self.grace = grace
        self.stop = stop
        deadline = Clock.now + .seconds(timeout)
    }

    /// Returns when no process of the group is left, or when SIGKILL had no effect within the grace period.
    ///
    /// - Parameters:
    ///   - watch: a pidfd, readable when the program has ended; negative if the kernel has none.
    ///   - output: the program's standard error, non-blocking.
    mutating func run(watch: Int32, output: Int32, ended: (ProgramEnd) -> Void) {
        var requests = [
            Poll.request(watch, POLLIN), Poll.request(output, POLLIN),
            Poll.request(stop?.descriptor ?? -1, POLLIN),
        ]
        func end(_ reason: ProgramEnd.Reason) {
            // Reads what is left in the pipe. Bounded, because other processes of the group may write without end.
            for _ in 0..<32 where !readOutput(output) { break }
            ended(ProgramEnd(reason: reason, errorTail: tail.line))
        }
        while true {
            if !hasEnded {
                var status: Int32 = 0
                let waited = waitpid(pid, &status, WNOHANG)
                if waited < 0, errno == EINTR { continue }
                if waited != 0 {
                    hasEnded = true
                    requests[0].fd = -1
                    end(waited < 0 ? .unknown : reason(status))
                }
            }
            // Processes left in the background may run until the timeout. While one of them lives, the kernel does not reuse the
            // group's number.
            if hasEnded, kill(-pid, 0) != 0, errno != EPERM { return }
            // Without a descriptor that tells, look again and again.
            let pause: Duration? = hasEnded ? .milliseconds(20) : watch < 0 ? .milliseconds(5) : nil
            Poll.wait(&requests, until: pause.map { min(deadline, Clock.now + $0) } ?? deadline)
            if requests[1].revents != 0, !readOutput(output) { requests[1].fd = -1 }
            if requests[2].revents != 0 {
                requests[2].fd = -1
                stopNow()
            }
            if Clock.now >= deadline, !endGroup() { break }
        }
        if !hasEnded { end(reason(0)) }
    }

    /// The service stops, and systemd or the user waits for it.
    private mutating func stopNow() {
        isStopping = true
        grace = min(grace, 0.4)
        deadline = Clock.now
    }

    private func reason(_ status: Int32) -> ProgramEnd.Reason {
        if phase != .running { return isStopping ? .stopped : .timedOut(seconds: timeout) }
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
    }

    /// Reads up to 4096 bytes; false if there is nothing to read now, or at EOF.
    private mutating func readOutput(_ output: Int32) -> Bool {
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = read(output, &piece, piece.count)
        guard count > 0 else { return count < 0 && errno == EINTR }
        tail.add(piece.prefix(count))
        return true
    }

    /// The next step of ending the group: first SIGTERM, then SIGKILL. False if both were sent already.
    private mutating func endGroup() -> Bool {
        switch phase {
        case .running:
            phase = .asked
            kill(-pid, SIGTERM)
            // A stopped process handles SIGTERM only after SIGCONT.
            kill(-pid, SIGCONT)
        case .asked:
            phase = .killed
            kill(-pid, SIGKILL)
        case .killed: return false
        }
        deadline = Clock.now + .seconds(grace)
        return true
    }
}
