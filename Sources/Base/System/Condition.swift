public import Core
import Glibc

/// A mutex with a condition variable.
public final class Condition: Sendable {
    // pthread objects must not move in memory.
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private nonisolated(unsafe) let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    public init() {
        // Not `pthread_condattr_t()`: which module that initialiser belongs to depends on the C header imported first.
        let attributes = UnsafeMutablePointer<pthread_condattr_t>.allocate(capacity: 1)
        pthread_condattr_init(attributes)
        pthread_condattr_setclock(attributes, CLOCK_MONOTONIC)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, attributes)
        pthread_condattr_destroy(attributes)
        attributes.deallocate()
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    public func lock() { pthread_mutex_lock(mutex) }
    public func unlock() { pthread_mutex_unlock(mutex) }

    public func withLock<Result>(_ body: () -> Result) -> Result {
        lock()
        defer { unlock() }
        return body()
    }

    /// Wakes all threads that wait.
    public func broadcast() { pthread_cond_broadcast(condition) }

    /// Releases the lock, waits until woken, and locks again. Spurious wake-ups happen.
    public func wait() { pthread_cond_wait(condition, mutex) }

    /// Waits as ``wait()`` does, at most until a time on ``Clock``. Returns false if that time has passed.
    public func wait(until time: Instant) -> Bool {
        var end = time.timespec
        return pthread_cond_timedwait(condition, mutex, &end) != ETIMEDOUT
    }
}

/// Opens once; threads may wait for it.
public final class Latch: Sendable {
    private let condition = Condition()
    // The condition guards it.
    private nonisolated(unsafe) var isOpen = false

    public init() {}

    public func open() {
        condition.withLock {
            isOpen = true
            condition.broadcast()
        }
    }

    /// Waits until it is open, or until a time on ``Clock``. Returns whether it is open.
    @discardableResult
    public func wait(until time: Instant? = nil) -> Bool {
        condition.withLock {
            while !isOpen {
                if let time {
                    guard condition.wait(until: time) else { return isOpen }
                } else {
                    condition.wait()
                }
            }
            return true
        }
    }
}
