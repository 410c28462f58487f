import Synchronization

/// A bounded, lock-free queue from one thread (the producer) to one other (the consumer).
///
/// A full queue drops the new element and counts it. ``push(_:)`` and ``pop()`` neither allocate, lock nor wait.
/// Elements are plain bytes, so that no reference is retained or released on a real-time thread.
// Sendable is unchecked because of the raw memory: the indices give a slot to only one side at a time.
public struct SPSCQueue<Element: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    private let slots: UnsafeMutablePointer<Element>
    private let indices: SPSCIndices

    /// - Parameter capacity: most elements that it holds; less than 1 counts as 1.
    public init(capacity: Int) {
        slots = .allocate(capacity: max(1, capacity))
        indices = SPSCIndices(capacity: max(1, capacity))
    }

    deinit { slots.deallocate() }

    /// Elements dropped because the queue was full.
    public var droppedCount: UInt64 { indices.droppedCount }

    /// Appends an element. Producer only.
    ///
    /// - Returns: false if the queue was full and the element was dropped.
    @discardableResult
    public func push(_ element: Element) -> Bool {
        guard let slot = indices.nextFree() else { return false }
        (slots + slot).initialize(to: element)
        indices.publish()
        return true
    }

    /// Removes the oldest element; nil if the queue is empty. Consumer only.
    public func pop() -> Element? {
        guard let slot = indices.oldest() else { return nil }
        let element = slots[slot]
        indices.release()
        return element
    }
}

/// The indices of an ``SPSCQueue``: two counters that only grow, each written by one side.
private struct SPSCIndices: ~Copyable, Sendable {
    private let capacity: UInt64
    // The padding keeps the producer's and the consumer's counters on different cache lines.
    private let written = Atomic<UInt64>(0)
    private let dropped = Atomic<UInt64>(0)
    private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
    private let taken = Atomic<UInt64>(0)

    init(capacity: Int) { self.capacity = UInt64(capacity) }

    var droppedCount: UInt64 { dropped.load(ordering: .relaxed) }

    /// The slot for a new element; if the queue is full, nil, and the drop is counted. ``publish()`` hands it over.
    func nextFree() -> Int? {
        let index = written.load(ordering: .relaxed)
        guard index - taken.load(ordering: .acquiring) < capacity else {
            dropped.add(1, ordering: .relaxed)
            return nil
        }
        return Int(index % capacity)
    }

    /// Hands the slot that ``nextFree()`` returned to the consumer.
    func publish() { written.add(1, ordering: .releasing) }

    /// The slot of the oldest element; nil if the queue is empty. ``release()`` frees it.
    func oldest() -> Int? {
        let index = taken.load(ordering: .relaxed)
        return index < written.load(ordering: .acquiring) ? Int(index % capacity) : nil
    }

    /// Hands the slot that ``oldest()`` returned back to the producer.
    func release() { taken.add(1, ordering: .releasing) }
}
