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
            let words = arguments.operands.flatMap { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
            command = try ControlCommand(words: [arguments.command] + words)
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
        var client = try ControlClient(path: path)
        let (reply, line) = try client.ask(command)
        if json {
            Output.write(line + "\n")
            return 0
        }
        switch reply {
        case .status(let status): Output.write(StatusSummary(status, now: .now).lines.map { $0 + "\n" }.joined())
        case .note(let note): Output.write("note: \(printable(note))\n")
        case .done, .words, .failed: break
        }
        return 0
    }

    private var path: String { socket ?? ControlClient.findPath(environment: ProcessInfo.processInfo.environment) }

    /// Prints events until the service closes the connection; false if they cannot be written.
    ///
    /// - Parameter began: called when the service has answered.
    private func follow(_ began: () -> Void = {}) throws -> Bool {
        var client = try ControlClient(path: path)
        let (_, line) = try client.ask(command)
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
