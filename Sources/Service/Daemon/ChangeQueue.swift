import Control
import Core
import JSON
import System

/// Makes the changes of settings one after the other, on a thread of its own: reading files may take long.
final class ChangeQueue: Sendable {
    /// The result of a change: a note for the user, or the error.
    typealias Done = @Sendable (Result<String?, any Error>) -> Void

    /// What ``start(make:look:)`` needs of a change that was made.
    struct Outcome {
        /// One line about what does not apply, or only after a restart; nil if everything applies now.
        var note: String?
        /// Whether the detector got something new.
        var hasRebuilt = true
    }

    private struct State {
        var schedule = ChangeSchedule<Done>()
        /// Whether nobody makes changes any more.
        var isClosed = false
    }

    /// The time between two looks at files.
    private static let interval = Duration.seconds(1)

    private let thread: InboxThread<State>

    init() throws(DaemonError) { thread = try InboxThread(State(), or: DaemonError.noEventFD) }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - make: makes a change; called on the thread.
    ///   - look: called once a second on the thread, to look whether files have changed.
    /// - Throws: ``DaemonError`` if the system gives no thread.
    func start(
        make: @escaping @Sendable (SettingsChange) throws -> Outcome,
        look: @escaping @Sendable () -> Void
    ) throws(DaemonError) {
        try thread.start(name: "beckon-changes", stackSize: 1 << 20, or: DaemonError.noThread) { [self] in
            run(make, look)
        }
    }

    /// Adds a change. Any thread; never waits.
    ///
    /// - Parameter done: gets the result, on the queue's thread.
    /// - Returns: false if too many changes wait already.
    @discardableResult
    func submit(_ change: SettingsChange, _ done: @escaping Done = { _ in }) -> Bool {
        thread.post { !$0.isClosed && $0.schedule.add(change, done) }
    }

    /// Adds a change that a client asks for. Any thread; never waits.
    ///
    /// - Returns: nil if `later` gets the reply, on the queue's thread.
    func submit(_ change: SettingsChange, _ later: @escaping @Sendable (ControlReply) -> Void) -> ControlReply? {
        let isTaken = submit(change) { result in
            switch result {
            case .success(let note): later(note.map { .note($0) } ?? .done)
            case .failure(let error): later(.failed("\(error)"))
            }
        }
        if isTaken { return nil }
        return .failed(thread.isStopped ? "the service is stopping" : ControlReply.noRoom)
    }

    /// Drops the changes that wait, and ends the thread after the one that is being made.
    ///
    /// - Parameter time: when to give up, on the monotonic clock.
    /// - Returns: whether it has ended.
    func stop(until time: Instant) -> Bool { thread.stop(until: time) { $0.isClosed = true } }

    private func run(_ make: (SettingsChange) throws -> Outcome, _ look: () -> Void) {
        var nextLook = Clock.now + Self.interval
        while true {
            let ((turn, deadline), isStopped) = thread.take { state in
                (state.schedule.next(at: Clock.now), state.schedule.deadline)
            }
            if isStopped { break }
            if let turn {
                take(turn, make)
            } else {
                thread.wait(until: min(nextLook, deadline ?? nextLook))
            }
            if Clock.now >= nextLook {
                nextLook = Clock.now + Self.interval
                look()
            }
        }
        for done in thread.withLock({ $0.schedule.removeAll() }) {
            done(.failure(DaemonError("the service is stopping")))
        }
    }

    private func take(_ turn: ChangeSchedule<Done>.Turn, _ make: (SettingsChange) throws -> Outcome) {
        let result = Result { try make(turn.change) }
        if turn.change.isReload {
            let hasRebuilt = (try? result.get())?.hasRebuilt ?? false
            thread.withLock { $0.schedule.noteReload(hasRebuilt: hasRebuilt, at: Clock.now) }
        }
        for done in turn.requests { done(result.map(\.note)) }
    }
}
