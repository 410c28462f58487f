import Synchronization

/// An atomic number with a cache line of 64 bytes to itself, so that the two sides do not slow each other down.
struct CacheLine: ~Copyable {
    let value: Atomic<UInt64>
    // Two numbers 64 bytes apart never share a line, wherever the object begins.
    private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)

    init(_ initial: UInt64) { value = Atomic(initial) }

    /// Adds without a locked instruction, for a number that only one thread writes.
    func increment(by amount: UInt64 = 1) {
        value.store(value.load(ordering: .relaxed) + amount, ordering: .relaxed)
    }
}
