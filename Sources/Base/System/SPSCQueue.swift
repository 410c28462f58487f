import Synchronization

/// A bounded, lock-free queue from one thread (the producer) to one other (the consumer).
///
/// A full queue drops the new element and counts it. ``push(_:)`` and ``pop()`` neither allocate, lock nor wait.
/// Elements are plain bytes, so that no reference is retained or released on a real-time thread.
// Sendable is unchecked because of the raw memory: the indices give a slot to only one side at a time.
public struct SPSCQueue<Element: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    private let slots: UnsafeMutablePointer<Element>
    private let capacity: UInt64
    // Two counters that only grow, each written by one side. The padding keeps them on different cache lines.
    private let written = Atomic<UInt64>(0)
    private let dropped = Atomic<UInt64>(0)
    private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
    private let taken = Atomic<UInt64>(0)

    /// - Parameter capacity: most elements that it holds; less than 1 counts as 1.
    public init(capacity: Int) {
        self.capacity = UInt64(max(1, capacity))
        slots = .allocate(capacity: max(1, capacity))
    }

    deinit { slots.deallocate() }

    /// Elements dropped because the queue was full.
    public var droppedCount: UInt64 { dropped.load(ordering: .relaxed) }

    /// Appends an element. Producer only.
    ///
    /// - Returns: false if the queue was full and the element was dropped.
    @discardableResult
    public func push(_ element: Element) -> Bool {
        let index = written.load(ordering: .relaxed)
        guard index - taken.load(ordering: .acquiring) < capacity else {
            dropped.add(1, ordering: .relaxed)
            return false
        }
        (slots + Int(index % capacity)).initialize(to: element)
        written.add(1, ordering: .releasing)
        return true
    }

    /// Removes the oldest element; nil if the queue is empty. Consumer only.
    public func pop() -> Element? {
        let index = taken.load(ordering: .relaxed)
        guard index < written.load(ordering: .acquiring) else { return nil }
        let element = slots[Int(index % capacity)]
        taken.add(1, ordering: .releasing)
        return element
    }
}
