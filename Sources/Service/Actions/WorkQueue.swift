import Core
import System

/// Runs jobs on a few threads of its own; refuses a job when it is full, instead of waiting.
///
/// Threads start when there is work for them. ``submit(_:)`` takes a lock, so real-time threads must not call it.
final class WorkQueue: @unchecked Sendable {
    // Sendable is unchecked because the condition guards all properties below it.
    private let condition = Condition()
    private var waiting: [@Sendable () -> Void] = []
    private var threads = 0
    private var idle = 0
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
            limit = threads
            self.capacity = capacity
            // Starts more threads for jobs that wait already, if the new limit allows it.
            for _ in 0..<max(0, min(waiting.count - idle, limit - self.threads)) { _ = startThread() }
            condition.broadcast()
        }
    }

    /// Adds a job; never waits for room.
    ///
    /// - Returns: false if the queue is full or stopped, or if no thread can be started.
    func submit(_ job: @escaping @Sendable () -> Void) -> Bool {
        condition.withLock {
            guard !isStopped, running + waiting.count < limit + capacity else { return false }
            waiting.append(job)
            if idle < waiting.count, threads < limit {
                // If no thread can be started, a running one takes the job later; if none runs, the job is refused.
                guard startThread() || threads > 0 else {
                    waiting.removeLast()
                    return false
                }
            } else {
                condition.signal()
            }
            return true
        }
    }

    /// Refuses new jobs, and drops those that wait. Returns how many these are.
    func close() -> Int {
        condition.withLock {
            isStopped = true
            defer { waiting.removeAll() }
            condition.broadcast()
            return waiting.count
        }
    }

    /// Waits until no job waits or runs.
    ///
    /// - Parameter time: when to give up, on the monotonic clock.
    func drain(until time: Instant) {
        condition.withLock {
            while running + waiting.count > 0 {
                guard condition.wait(until: time) else { return }
            }
        }
    }

    /// Refuses new jobs, drops those that wait, and waits for the running ones.
    ///
    /// - Parameter end: when to give up, on the monotonic clock.
    /// - Returns: whether all running jobs have ended.
    func stop(until end: Instant) -> Bool {
        condition.withLock {
            isStopped = true
            waiting.removeAll()
            condition.broadcast()
            while threads > 0 {
                guard condition.wait(until: end) else { return false }
            }
            return true
        }
    }

    private func startThread() -> Bool {
        guard (try? SystemThread(name: name, stackSize: 512 << 10, or: { $0 }, { [self] in work() })) != nil else {
            return false
        }
        threads += 1
        return true
    }

    private func work() {
        condition.lock()
        while !isStopped, threads <= limit {
            if waiting.isEmpty {
                idle += 1
                condition.wait()
                idle -= 1
                continue
            }
            let job = waiting.removeFirst()
            running += 1
            condition.unlock()
            job()
            condition.lock()
            running -= 1
            if running + waiting.count == 0 { condition.broadcast() }
        }
        threads -= 1
        condition.broadcast()
        condition.unlock()
    }
}
