import Synchronization

extension BlockRing {
    /// What happened to the blocks so far.
    public struct Counts: Equatable, Sendable {
        /// Blocks handed to ``BlockRing/write(_:time:)``; the sum of the next four at rest.
        public var offered: UInt64
        /// Blocks the consumer has read.
        public var read: UInt64
        /// Blocks lost because the ring was full.
        public var dropped: UInt64
        /// Blocks skipped by the consumer after a ``BlockRing/flush()``.
        public var flushed: UInt64
        /// Blocks waiting to be read, stale ones among them until the consumer passes them.
        public var unread: UInt64
        /// How often the consumer found nothing.
        public var underruns: UInt64
    }

    /// The counters now; exact when both sides rest, else each one true for itself.
    public var counts: Counts {
        let read = readIndex.value.load(ordering: .acquiring) / 2
        let written = writeIndex.value.load(ordering: .acquiring)
        return Counts(
            offered: offered.value.load(ordering: .relaxed),
            read: consumed.value.load(ordering: .relaxed),
            dropped: dropped.value.load(ordering: .relaxed),
            flushed: flushed.value.load(ordering: .relaxed),
            unread: written - min(read, written),
            underruns: underruns.value.load(ordering: .relaxed)
        )
    }
}
