public import Core
import Synchronization

/// A thread with an inbox: other threads change what lies in it and wake the thread, which waits for that, alone or together with its own
/// descriptors.
///
/// Its owner starts it once and stops it once. The inbox is locked for a moment at a time, so real-time threads must not touch it.
public final class InboxThread<Inbox: Sendable>: Sendable {
    private struct Shared {
        var inbox: Inbox
        var isStarted = false
        var isStopped = false
    }

    private let shared: Mutex<Shared>
    private let wakeUp: EventFD
    private let finished = Latch()

    /// - Parameter failure: makes the error to throw if the system has no descriptor left.
    public init<Failure: Error>(_ inbox: Inbox, or failure: (SystemError) -> Failure) throws(Failure) {
        shared = Mutex(Shared(inbox: inbox))
        wakeUp = try EventFD(or: failure)
    }

    /// Starts the thread.
    ///
    /// - Parameters: as for ``SystemThread``; `body` ends soon after ``isStopped`` is true.
    public func start<Failure: Error>(
        name: StaticString,
        stackSize: Int,
        or failure: (SystemError) -> Failure,
        _ body: @escaping @Sendable () -> Void
    ) throws(Failure) {
        _ = try SystemThread(name: name, stackSize: stackSize, or: failure) { [self] in
            body()
            finished.open()
        }
        shared.withLock { $0.isStarted = true }
    }

    /// Changes the inbox and wakes the thread. Any thread.
    @discardableResult
    public func post<Result: Sendable>(_ change: (inout Inbox) -> Result) -> Result {
        defer { wakeUp.signal() }
        return withLock(change)
    }

    /// Looks at the inbox, or changes what the thread need not know. Any thread.
    public func withLock<Result: Sendable>(_ body: (inout Inbox) -> Result) -> Result {
        shared.withLock { body(&$0.inbox) }
    }

    /// Wakes the thread. Any thread.
    public func wake() { wakeUp.signal() }

    /// Ends the thread. Any thread but this one.
    ///
    /// - Parameters:
    ///   - time: when to give up, on ``Clock``; nil: never.
    ///   - change: of the inbox, before the thread knows.
    /// - Returns: whether it has ended; also true if it was never started.
    @discardableResult
    public func stop(until time: Instant?, _ change: (inout Inbox) -> Void = { _ in }) -> Bool {
        beginStop(change)
        return !shared.withLock { $0.isStarted } || finished.wait(until: time)
    }

    /// Tells the thread to end, without waiting for it. Any thread.
    public func beginStop(_ change: (inout Inbox) -> Void = { _ in }) {
        shared.withLock { shared in
            change(&shared.inbox)
            shared.isStopped = true
        }
        wakeUp.signal()
    }

    /// Whether it has to end. Any thread.
    public var isStopped: Bool { shared.withLock { $0.isStopped } }

    // MARK: - On the thread

    /// Readable when something was posted, until ``take(_:)``.
    public var descriptor: Int32 { wakeUp.descriptor }

    /// Takes what lies in the inbox, and says whether the thread has to end after it.
    public func take<Result: Sendable>(_ body: (inout Inbox) -> Result) -> (Result, isStopped: Bool) {
        wakeUp.drain()
        return shared.withLock { (body(&$0.inbox), $0.isStopped) }
    }

    /// Forgets what woke the thread, where it looks at all that lies in the inbox after that.
    public func drain() { wakeUp.drain() }

    /// Waits until something is posted, or until a time on ``Clock``. Returns whether something was.
    @discardableResult
    public func wait(until time: Instant) -> Bool { wakeUp.wait(until: time) }
}
