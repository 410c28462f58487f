import Synchronization

/// The newest value of its kind on its way to one thread, which looks for it often and never waits.
///
/// ``take()`` on an empty mailbox is one atomic load. It may be called on a real-time thread: it neither waits nor
/// allocates. What it returns replaces a value that the caller may then have to free.
public final class Mailbox<Value: Sendable>: Sendable {
    private let isFull = Atomic<Bool>(false)
    private let value = Mutex<Value?>(nil)

    public init() {}

    /// Puts a value in the place of one that was not taken yet. Any thread may post.
    public func post(_ new: Value) {
        value.withLock { value in
            value = new
            isFull.store(true, ordering: .releasing)
        }
    }

    /// The newest value, once. Also nil while another thread is just posting: the value is there at the next call.
    public func take() -> Value? {
        guard isFull.load(ordering: .acquiring) else { return nil }
        let taken = value.withLockIfAvailable { value -> Value? in
            isFull.store(false, ordering: .releasing)
            return value.take()
        }
        return taken ?? nil
    }
}
