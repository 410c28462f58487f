import Core
import System

/// Runs jobs on a few threads of its own; refuses a job when it is full, instead of waiting.
///
/// A thread starts for a job, and ends when none waits. ``submit(_:)`` takes a lock, so real-time threads must not call it.
final class WorkQueue: @unchecked Sendable {
    typealias Job = @Sendable () -> Void

    // Sendable is unchecked because the condition guards all properties below it.
    private let condition = Condition()
    private var waiting: [Job] = []
    /// Threads, each with a job.
    private var running = 0
    private var limit: Int
    private var capacity: Int
    private var isStopped = false
    private let name: StaticString

    /// - Parameters:
    ///   - threads: the largest number of jobs that run at a time.
    ///   - capacity: the largest number of jobs that wait.
    init(name: StaticString, threads: Int, capacity: Int) {
        self.name = name
        limit = threads
        self.capacity = capacity
    }

    /// Changes the limits; jobs that wait or run already are kept.
    func setLimits(threads: Int, capacity: Int) {
        condition.withLock {
            (limit, self.capacity) = (threads, capacity)
            // Jobs that wait already, if the new limit allows it.
            while running < limit, let job = waiting.first, start(job) { waiting.removeFirst() }
        }
    }

    /// Adds a job; never waits for room.
    ///
    /// - Returns: false if the queue is full or stopped, or if no thread can be started.
    func submit(_ job: @escaping Job) -> Bool {
        condition.withLock {
            guard !isStopped, running + waiting.count < limit + capacity else { return false }
            if running < limit, start(job) { return true }
            // If no thread can be started, a running one takes the job later; if none runs, the job is refused.
            guard running > 0 else { return false }
            waiting.append(job)
            return true
        }
    }

    /// Refuses new jobs, and drops those that wait. Returns how many these are.
    @discardableResult
    func close() -> Int {
        condition.withLock {
            isStopped = true
            defer { waiting.removeAll() }
            return waiting.count
        }
    }

    /// Waits until no job waits or runs.
    ///
    /// - Parameter time: when to give up, on the monotonic clock.
    /// - Returns: whether all jobs have ended.
    @discardableResult
    func drain(until time: Instant) -> Bool {
        condition.withLock {
            while running > 0 {
                guard condition.wait(until: time) else { return false }
            }
            return true
        }
    }

    private func start(_ job: @escaping Job) -> Bool {
        let work: Job = { [self] in
            var job: Job? = job
            while let current = job {
                current()
                job = next()
            }
        }
        let thread = try? SystemThread(name: name, stackSize: 512 << 10, or: { $0 }, work)
        guard thread != nil else { return false }
        running += 1
        return true
    }

    /// The next job of a thread; nil if it has to end.
    private func next() -> Job? {
        condition.withLock {
            if running <= limit, !waiting.isEmpty { return waiting.removeFirst() }
            running -= 1
            condition.broadcast()
            return nil
        }
    }
}
