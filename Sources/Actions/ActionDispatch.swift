import Configuration
private import Core
import Events
import Glibc
import Spotting
import Synchronization
import System

/// What happens to an event between the inbox and the end of its actions.
extension ActionRunner {
    /// Acts on what is offered, until the runner stops.
    func dispatch() {
        while true {
            while let event = inbox.take() { act(on: event) }
            if state.withLock({ $0.isStopped }) { break }
            inbox.wait()
        }
    }

    private func act(on heardEvent: HeardEvent) {
        let detection = heardEvent.detection
        let age = (Clock.now - heardEvent.decided).seconds
        let found = state.withLock { state -> (event: DetectionEvent, actions: [Action])? in
            let plan = heardEvent.generation == state.plan.generation ? state.plan : state.previous
            guard let plan, plan.generation == heardEvent.generation, let subject = plan.subject(of: detection) else {
                return nil
            }
            state.counts.events += 1
            guard
                state.cooldown.admits(
                    subject.name,
                    kind: detection.kind,
                    cooldown: subject.cooldown,
                    time: detection.time
                )
            else {
                state.counts.suppressed += 1
                return nil
            }
            let event = DetectionEvent(
                sequence: heardEvent.sequence,
                kind: detection.kind,
                name: subject.name,
                confidence: detection.confidence,
                start: detection.start,
                end: detection.end,
                time: detection.time,
                date: Timestamp.now.adding(seconds: -age),
                device: state.device
            )
            return (event, subject.actions)
        }
        guard let found else { return }
        for action in found.actions { hand(action, found.event) }
        heard(found.event)
    }

    private func hand(_ action: Action, _ event: DetectionEvent) {
        let (server, limit, isStopped) = state.withLock { state -> (LineServer?, Double, Bool) in
            guard case .unix(let path) = action.effect else { return (nil, state.timeout, state.isStopped) }
            return (state.sockets[path], state.timeout, state.isStopped)
        }
        let timeout = action.timeout ?? limit
        switch action.effect {
        case .run(let arguments, let directory):
            guard !isStopped else { return }
            submit(action, to: programs) { [self] in run(action, arguments, directory, timeout: timeout, event) }
        case .webhook(let address):
            guard !isStopped else { return }
            submit(action, to: programs) { [self] in
                attempt(action) { () throws(ActionError) in
                    try Webhook(address: address, timeout: timeout).post(event.json, stop: stopEvent)
                }
            }
        case .print(let template):
            submit(action, to: printing) { [self] in
                attempt(action) { () throws(ActionError) in try write(template.filled(with: event) + "\n") }
            }
        case .journal(let priority):
            let message = "heard \(event.name) (\(event.kind.key), \(percent(event.confidence)))"
            count { $0.started += 1 }
            attempt(action) { () throws(ActionError) in
                try journal.write(message, priority: priority, fields: event.fields)
            }
        case .unix:
            count { $0.started += 1 }
            server?.publish(event.json)
        }
    }

    private func submit(_ action: Action, to queue: WorkQueue, _ job: @escaping @Sendable () -> Void) {
        if queue.submit(job) {
            count { $0.started += 1 }
        } else {
            count { $0.dropped += 1 }
            warn(
                "queue",
                "\(action.name): dropped, as too many actions wait already; see limits in the configuration"
            )
        }
    }

    // MARK: - On the threads of the queues

    private func run(
        _ action: Action,
        _ arguments: [String],
        _ directory: String,
        timeout: Double,
        _ event: DetectionEvent
    ) {
        let program = Program(
            arguments: arguments,
            directory: directory,
            environment: environment + event.fields.map { "\($0.name)=\($0.value)" },
            input: Array((event.json + "\n").utf8),
            timeout: timeout
        )
        attempt(action) { () throws(ActionError) in
            try program.run(stop: stopEvent) { end in
                if !end.isSuccess { fail(action, end.description) }
            }
        }
    }

    private func attempt(_ action: Action, _ work: () throws(ActionError) -> some Any) {
        do throws(ActionError) {
            _ = try work()
        } catch {
            fail(action, error.description)
        }
    }

    private func fail(_ action: Action, _ reason: String) {
        count { $0.failed += 1 }
        warn(action.name, "\(action.name): \(reason)")
    }

    private func count(_ change: (inout Counts) -> Void) { state.withLock { change(&$0.counts) } }

    private func warn(_ kind: String, _ text: String) {
        guard let swallowed = state.withLock({ $0.warnings.admit(kind, now: Clock.now) }) else { return }
        let more = swallowed > 0 ? " (and \(swallowed) more of the kind before)" : ""
        report(Report(priority: .warning, text: text + more))
    }

    private func write(_ line: String) throws(ActionError) {
        guard writeAll(Array(line.utf8), to: output) else {
            throw .program.saying("cannot write to standard output: \(SystemError.text(errno))")
        }
    }
}
