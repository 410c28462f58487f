import Synchronization

/// A place for one value on its way to one other thread, which polls it and never waits. A newer value replaces it.
///
/// ``take()`` on an empty mailbox is one atomic load. It may be called on a real-time thread: it neither waits nor
/// allocates. But the caller usually replaces an older value by the new one, and that may free memory.
public final class Mailbox<Value: Sendable>: Sendable {
    private let isFull = Atomic<Bool>(false)
    private let value = Mutex<Value?>(nil)

    public init() {}

    /// Stores a value and discards one that was not taken yet. Any thread may post; it may block on other posters.
    public func post(_ new: Value) {
        value.withLock { value in
            value = new
            isFull.store(true, ordering: .releasing)
        }
    }

    /// Removes and returns the value; nil if there is none, or while another thread posts (the next call finds it).
    public func take() -> Value? {
        guard isFull.load(ordering: .acquiring) else { return nil }
        let taken = value.withLockIfAvailable { value -> Value? in
            isFull.store(false, ordering: .releasing)
            return value.take()
        }
        return taken ?? nil
    }
}
