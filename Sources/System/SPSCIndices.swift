import Synchronization

/// Which places of a queue from one thread to another are free: bounded, and without locks or waiting.
///
/// The entries themselves are the owner's. One thread at a time writes and one reads; each sees an entry only while it
/// is its own.
public struct SPSCIndices: ~Copyable, Sendable {
    private let capacity: UInt64
    // The writer's numbers and the reader's lie on cache lines of their own.
    private let written = Atomic<UInt64>(0)
    private let refused = Atomic<UInt64>(0)
    private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
    private let taken = Atomic<UInt64>(0)

    public init(capacity: Int) { self.capacity = UInt64(max(1, capacity)) }

    /// Entries that found no room.
    public var lost: UInt64 { refused.load(ordering: .relaxed) }

    /// The place for a new entry; nil, and counted, where the queue is full. ``publish()`` hands it over.
    public func free() -> Int? {
        let place = written.load(ordering: .relaxed)
        guard place - taken.load(ordering: .acquiring) < capacity else {
            refused.add(1, ordering: .relaxed)
            return nil
        }
        return Int(place % capacity)
    }

    /// The place that ``free()`` gave is written.
    public func publish() { written.add(1, ordering: .releasing) }

    /// The place of the oldest entry; nil where there is none. ``release()`` frees it.
    public func oldest() -> Int? {
        let place = taken.load(ordering: .relaxed)
        return place < written.load(ordering: .acquiring) ? Int(place % capacity) : nil
    }

    /// The place that ``oldest()`` gave is read.
    public func release() { taken.add(1, ordering: .releasing) }
}
