import Control
private import Core
private import Events
private import FoundationEssentials
private import System

/// `beckon status`, `mute`, `unmute`, `reload`, `set` and `events`: commands to the running service.
struct ControlVerb {
    private let command: ControlCommand
    private let socket: String?
    private let json: Bool
    private let reconnects: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        do throws(ControlError) {
            command = try ControlCommand(line: ([arguments.command] + arguments.operands).joined(separator: " "))
        } catch {
            throw UsageError(error.description)
        }
        socket = arguments.value("--socket")
        json = arguments.has("--json")
        reconnects = arguments.has("--reconnect")
        guard !reconnects || command == .events else { throw UsageError("--reconnect goes with events") }
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        guard command != .events else {
            // Only a signal ends what waits for events, so none may stay blocked.
            Interrupt.unblock()
            if reconnects { return try followForEver() }
            if try !follow() { return 1 }
            throw Failure("the service stopped; no more events")
        }
        let path = path
        var client = try ControlClient(path: path)
        let (line, answer) = try ask(&client, path)
        if json {
            Output.write(line + "\n")
        } else if command == .status {
            Output.write(StatusSummary(answer, now: .now).lines.map { $0 + "\n" }.joined())
        } else {
            Output.write(answer.lines.map { printable($0) + "\n" }.joined())
        }
        return 0
    }

    private var path: String { socket ?? ControlClient.findPath(environment: ProcessInfo.processInfo.environment) }

    /// Sends the command. Returns the answer as a line, and parsed.
    private func ask(_ client: inout ControlClient, _ path: String) throws -> (String, ControlAnswer) {
        try client.send(command)
        guard let line = try client.nextLine() else {
            throw Failure("\(path): the service closed the connection; try again")
        }
        let answer = try ControlAnswer(line: line)
        if let error = answer.error { throw Failure(error) }
        return (line, answer)
    }

    /// Prints events until the service closes the connection; false if they cannot be written.
    ///
    /// - Parameter began: called when the service has answered.
    private func follow(_ began: () -> Void = {}) throws -> Bool {
        let path = path
        var client = try ControlClient(path: path)
        let (line, _) = try ask(&client, path)
        began()
        if json { Output.write(line + "\n") }
        while let event = try client.nextLine(within: nil) {
            Output.write(event + "\n")
            if Output.hasFailed { return false }
        }
        return true
    }

    /// Prints events of this service and of those after it; waits while none runs.
    private func followForEver() throws -> Int32 {
        var isWaiting = false
        while true {
            do {
                let isWritten = try follow {
                    if isWaiting { Output.report(.notice, "the service answers") }
                    isWaiting = false
                }
                guard isWritten else { return 1 }
            } catch let error as ControlError where error == .notRunning || error == .timedOut {
                // Waited for.
            }
            if !isWaiting { Output.report(.notice, "\(path): no service runs; it is waited for, Ctrl-C ends") }
            isWaiting = true
            Clock.sleep(until: Clock.now + .milliseconds(500))
        }
    }
}
