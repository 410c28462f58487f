import Core
import Synchronization
import System

/// The parts of a service. They start in the order in which they were added, and stop in the opposite order, as those of a
/// swift-service-lifecycle `ServiceGroup`: each may use the parts before it for as long as it runs.
final class PartGroup: Sendable {
    private struct Part {
        let timeout: Duration
        let start: @Sendable () throws -> Void
        let stop: @Sendable (Instant) -> Bool
    }

    private struct State {
        var parts: [Part] = []
        /// The first parts, which run.
        var running = 0
    }

    private let state = Mutex(State())

    /// - Parameters:
    ///   - timeout: the longest time in which it stops.
    ///   - start: called once; a part whose start throws is not stopped.
    ///   - stop: gets the time to give up, on the monotonic clock, and returns whether the part has ended.
    func add(
        timeout: Duration,
        start: @escaping @Sendable () throws -> Void = {},
        stop: @escaping @Sendable (Instant) -> Bool
    ) {
        state.withLock { $0.parts.append(Part(timeout: timeout, start: start, stop: stop)) }
    }

    /// Starts all parts. If one cannot start, those before it are stopped.
    ///
    /// - Parameter timeout: the longest time in which they stop.
    func start(timeout: Duration) throws {
        for part in state.withLock({ $0.parts }) {
            do {
                try part.start()
                state.withLock { $0.running += 1 }
            } catch {
                stop(timeout: timeout)
                throw error
            }
        }
    }

    /// Stops all parts that run.
    ///
    /// - Parameter timeout: the time for all of them together; a part that is late takes from those after it.
    /// - Returns: whether all have ended.
    @discardableResult
    func stop(timeout: Duration) -> Bool {
        let end = Clock.now + timeout
        let running = state.withLock { state in
            // Their closures may retain the service.
            defer { state = State() }
            return state.parts.prefix(state.running)
        }
        return running.reversed().map { $0.stop(min(end, Clock.now + $0.timeout)) }.allSatisfy { $0 }
    }
}
