import Core
import Glibc
import System

/// A program that an action runs: started without a shell, in a process group of its own, and watched until its end.
///
/// It gets the input on standard input, no other descriptor, default signal dispositions and the ordinary scheduling
/// policy. Processes that it leaves in the background may go on until the timeout.
struct Program: Sendable {
    /// The absolute path and the arguments.
    let arguments: [String]
    let directory: String
    /// `NAME=value`.
    let environment: [String]
    /// At most 4096 bytes, as much as any pipe takes without a reader.
    let input: [UInt8]
    /// Seconds.
    let timeout: Double
    /// Seconds between asking it to end and ending it.
    var grace = 1.0

    /// Starts it and waits.
    ///
    /// - Parameters:
    ///   - stop: ends it early.
    ///   - ended: called once the program itself has ended; the group may go on.
    /// - Throws: ``ActionError/program`` where it cannot be started.
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
            // From here on only the child has its ends, so that it sees the end of its input, and we that of its output.
            standardInput.close()
            let output = standardError.keepReading()
            output.setNonBlocking()
            var supervision = Supervision(pid: pid, timeout: timeout, grace: grace, stop: stop)
            supervision.run(watch: watch.rawValue, output: output.rawValue, ended: ended)
        } catch {
            throw .program.saying(
                "cannot start \(arguments.first ?? ""): \(error); check the path and its permissions"
            )
        }
    }
}

// MARK: - Its end

/// How a program ended, and the last of what it wrote on standard error.
public struct ProgramEnd: Equatable, Sendable {
    public enum Reason: Equatable, Sendable {
        case exited(Int32)
        case signalled(Int32)
        /// It took too long, and was ended with everything that it started.
        case timedOut(seconds: Double)
        /// The service stopped, and ended it.
        case stopped
    }

    public let reason: Reason
    /// At most 1 KiB, line ends as slashes.
    public let errorTail: String

    public var isSuccess: Bool { reason == .exited(0) || reason == .stopped }

    /// What went wrong, for a report.
    public var description: String {
        let what =
            switch reason {
            case .exited(let status): "exit status \(status)"
            case .signalled(let number): "ended by signal \(number) (\(String(cString: strsignal(number))))"
            case .timedOut(let seconds): "took longer than \(shortest(seconds)) s and was ended"
            case .stopped: "was ended, as the service stops"
            }
        return errorTail.isEmpty ? what : "\(what); it said: \(errorTail)"
    }
}

/// Keeps the last bytes of a stream.
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

    /// As one line; what was cut off before is an ellipsis.
    var line: String {
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        return (isCut ? "…" : "") + lines.joined(separator: " / ")
    }
}

/// Follows a started program: reads its standard error, and ends its process group when it takes too long.
struct Supervision {
    private enum Phase { case running, asked, killed }

    private let pid: pid_t
    private let timeout: Double
    private let grace: Double
    private let stop: EventFD?
    private var phase = Phase.running
    private var isStopping = false
    private var deadline: Instant
    private var tail = Tail()

    /// - Parameter pid: of the group's leader, not waited for by anybody else.
    init(pid: pid_t, timeout: Double, grace: Double, stop: EventFD?) {
        self.pid = pid
        self.timeout = timeout
        self.grace = grace
        self.stop = stop
        deadline = Clock.now + .seconds(timeout)
    }

    /// Returns when no process of the group is left, or when none could be killed.
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
            let soon = watch < 0 ? min(deadline, Clock.now + .milliseconds(5)) : deadline
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
        deadline = Clock.now + .seconds(grace)
        return true
    }

    /// Processes left in the background may go on until the timeout. While one of them lives, the system does not give the
    /// group's number to another.
    private mutating func waitForGroup(_ requests: [pollfd], output: Int32) {
        // The program's own end has been seen.
        var requests = Array(requests.dropFirst())
        while kill(-pid, 0) == 0 || errno == EPERM {
            Poll.wait(&requests, until: min(deadline, Clock.now + .milliseconds(20)))
            if requests[0].revents != 0, !readOutput(output) { requests[0].fd = -1 }
            if requests[1].revents != 0 {
                requests[1].fd = -1
                deadline = Clock.now
            }
            if Clock.now >= deadline, !endGroup() { return }
        }
    }
}
