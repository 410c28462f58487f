import Control
private import Core
private import Events
private import System

/// `beckon status`, `mute`, `unmute`, `reload`, `set` and `events`: commands to the running service.
struct ControlVerb {
    private let command: ControlCommand
    private let socket: String?
    private let json: Bool
    private let reconnects: Bool
    private let filter: EventFilter
    /// Prints the events since then, and ends; nil: those from now on.
    private let since: Timestamp?

    /// The exit status of `events --once` and `--seconds` without a word, as of `listen`.
    private static let missedStatus: Int32 = 3

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
        filter = try EventFilter(arguments)
        since = arguments.value("--since").flatMap { Timestamp(past: $0, now: .now) }
        for option in ["--reconnect", "--once", "--seconds", "--words", "--since"]
        where arguments.has(option) && command != .events {
            throw UsageError("\(option) goes with events")
        }
        for option in ["--reconnect", "--seconds"] where since != nil && arguments.has(option) {
            throw UsageError("--since prints what was heard, and ends; leave \(option) out")
        }
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        guard command != .events else {
            // Only a signal ends what waits for events, so none may stay blocked.
            Interrupt.unblock()
            if let since { return try printPast(since) }
            if reconnects { return try followForEver() }
            if let status = try follow() { return status }
            throw Failure("the service stopped; no more events")
        }
        var client = try ControlClient(path: path)
        let (reply, line) = try client.ask(command)
        if json {
            Output.write(line + "\n")
            return 0
        }
        switch reply {
        case .status(let status):
            Output.writeText(StatusSummary(status, now: .now).lines.map { $0 + "\n" }.joined(), hanging: 11)
        case .note(let note): Output.writeText("note: \(printable(note))\n")
        case .done, .words, .failed: break
        }
        return 0
    }

    /// Prints the events since a time. Returns the exit status.
    private func printPast(_ since: Timestamp) throws -> Int32 {
        let past = try PastEvents(since: since, socket: path)
        let lines = past.lines.compactMap { filter.text($0, json: json) }.prefix(filter.once ? 1 : .max)
        let start = "\(since.dayText) \(since.timeOfDayText)"
        Output.report(.notice, "\(counted(lines.count, "event")) since \(start), from \(past.source)")
        Output.write(lines.map { $0 + "\n" }.joined())
        return filter.once && lines.isEmpty ? Self.missedStatus : 0
    }

    private var path: String { socket ?? ControlClient.findPath(environment: OwnEnvironment.variables) }

    /// Prints events until the service closes the connection.
    ///
    /// - Parameters:
    ///   - end: when the time is over, on the monotonic clock; nil: `--seconds` from now.
    ///   - began: called when the service has answered.
    /// - Returns: the exit status where they end otherwise: a word came, the time is over, or they cannot be written.
    private func follow(until end: Instant? = nil, _ began: () -> Void = {}) throws -> Int32? {
        let end = end ?? filter.seconds.map { Clock.now + .seconds($0) }
        var client = try ControlClient(path: path)
        let (reply, line) = try client.ask(command)
        if case .status(let status) = reply { try filter.check(status) }
        began()
        if json, !filter.isSet { Output.write(line + "\n") }
        var hasFound = false
        while true {
            let event: String?
            do throws(ControlError) {
                event = try client.nextLine(within: end.map { max(0, ($0 - Clock.now).seconds) })
            } catch {
                guard let end, error == .timedOut, Clock.now >= end else { throw error }
                return hasFound ? 0 : missed()
            }
            guard let event else { return nil }
            guard let text = filter.text(event, json: json) else { continue }
            Output.write(text + "\n")
            if Output.hasFailed { return 1 }
            if filter.once { return 0 }
            hasFound = true
        }
    }

    private func missed() -> Int32 {
        Output.report(.notice, "no word came within \(shortest(filter.seconds ?? 0)) s")
        return Self.missedStatus
    }

    /// Prints events of this service and of those after it; waits while none runs.
    private func followForEver() throws -> Int32 {
        var isWaiting = false
        let end = filter.seconds.map { Clock.now + .seconds($0) }
        while true {
            if let end, Clock.now >= end { return missed() }
            do {
                let status = try follow(until: end) {
                    if isWaiting { Output.report(.notice, "the service answers") }
                    isWaiting = false
                }
                if let status { return status }
            } catch let error as ControlError where error == .notRunning || error == .timedOut {
                // Waited for.
            }
            if !isWaiting { Output.report(.notice, "\(path): no service runs; it is waited for, Ctrl-C ends") }
            isWaiting = true
            Clock.sleep(until: Clock.now + .milliseconds(500))
        }
    }
}
