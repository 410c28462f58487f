private import Synchronization

/// The number of threads that have nothing to do now, and may help with long files.
///
/// Those that work on a file take one for each chunk that another thread shall score, and give it back after it.
public final class SpareWorkers: Sendable {
    private let count: Atomic<Int>

    public init(_ count: Int = 0) { self.count = Atomic(count) }

    /// One more thread has nothing to do.
    public func give() { count.wrappingAdd(1, ordering: .acquiringAndReleasing) }

    /// A thread that was given has something to do again, also where it is taken: then one more than there should be works, for
    /// the time of a chunk.
    public func reclaim() { count.wrappingSubtract(1, ordering: .acquiringAndReleasing) }

    /// Takes one; false if there is none.
    func take() -> Bool {
        var present = count.load(ordering: .acquiring)
        while present > 0 {
            let (exchanged, original) = count.weakCompareExchange(
                expected: present,
                desired: present - 1,
                ordering: .acquiringAndReleasing
            )
            if exchanged { return true }
            present = original
        }
        return false
    }
}
