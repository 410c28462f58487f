public import Core
import Glibc
import Synchronization

/// A lock-free ring of 1600-sample blocks from one producer to one consumer, which sees the last second as one slice.
///
/// With each block the consumer gets a window: the block and the nine before it, contiguous, because the memory is
/// mapped twice (``MirroredMemory``). Indices only grow; each side loads its own index relaxed and the other's with
/// acquire, and stores with release, as in PipeWire's `spa_ringbuffer`.
///
/// A full ring drops its oldest unread block and counts it: the producer advances the read index, and the consumer sees
/// the loss in ``AudioBlock/missed``; the audio of that block stays in the next window. While the consumer holds a
/// window, the read index is marked busy and the producer drops its new block instead, so a window is never
/// overwritten. After such a gap, and after ``flush()``, the window is zero before the new audio, so that no decision
/// is made across the gap.
///
/// ``write(_:time:)``, ``withWindow(_:)`` and ``flush()`` neither allocate, lock nor retain.
// Sendable is unchecked because of the raw memory: the indices give a block to only one side at a time.
public final class BlockRing: @unchecked Sendable {
    /// Most unread blocks that the ring holds.
    public var capacity: Int { slots - (AudioFormat.windowHops - 1) }

    private let slots: Int
    private let memory: MirroredMemory
    private let stamps: UnsafeMutablePointer<(sequence: UInt64, time: Instant, hasPlayed: Bool)>
    /// What was played during each block, for the slots in their order; nil where it is not kept.
    private let played: UnsafeMutablePointer<Float>?
    /// The slot that the producer writes next.
    private let writeIndex = CacheLine(0)
    /// Twice the slot that the consumer reads next, plus 1 while it holds that slot's window.
    private let readIndex = CacheLine(0)
    /// Slots before this one are stale: written before the last ``flush()``.
    private let floor = CacheLine(0)
    private let offered = CacheLine(0)
    private let consumed = CacheLine(0)
    private let underruns = CacheLine(0)
    /// The sequence number that follows the block read last, 0 before the first; used only by the consumer.
    private let expected = CacheLine(0)
    /// Stale blocks skipped since the block read last; used only by the consumer.
    private let stale = CacheLine(0)
    /// The slot whose window is being read; used only by the consumer.
    private let reading = CacheLine(0)
    /// Where the blocks that it drops are counted.
    public let lost: LostAudio

    /// - Parameters:
    ///   - minimumCapacity: Unread blocks to hold, 1–100000; rounded up so that the memory fills whole pages.
    ///   - keepsPlayed: Whether it also takes what a loudspeaker plays, whose memory is used from the first time on.
    ///   - lost: Of one ring.
    /// - Throws: ``AudioError/memory``.
    public init(
        minimumCapacity: Int = 32,
        keepsPlayed: Bool = false,
        lost: LostAudio = LostAudio()
    ) throws(AudioError) {
        guard (1...100_000).contains(minimumCapacity) else {
            throw .memory.saying("a ring of \(minimumCapacity) blocks was asked for; 1 to 100000 are possible")
        }
        slots = BlockRing.slots(minimumCapacity: minimumCapacity, pageSize: Int(sysconf(Int32(_SC_PAGESIZE))))
        memory = try MirroredMemory(size: slots * BlockRing.blockBytes)
        stamps = .allocate(capacity: slots)
        stamps.initialize(repeating: (0, Instant(nanoseconds: 0), false), count: slots)
        played = keepsPlayed ? .allocate(capacity: slots * AudioFormat.hopSamples) : nil
        self.lost = lost
    }

    deinit {
        stamps.deallocate()
        played?.deallocate()
    }

    /// Locks the memory, so that it is not swapped out; false if the limit of locked memory forbids it.
    public func lockMemory() -> Bool { memory.lock() }

    static let blockBytes = AudioFormat.hopSamples * MemoryLayout<Float>.stride

    /// Slots for the unread blocks and nine older ones of the window, rounded up to whole pages.
    static func slots(minimumCapacity: Int, pageSize: Int) -> Int {
        // Page sizes are powers of two, so only the powers of two in the block's size count towards whole pages.
        let step = max(1, pageSize >> min(blockBytes.trailingZeroBitCount, pageSize.trailingZeroBitCount))
        return (minimumCapacity + AudioFormat.windowHops - 1 + step - 1) / step * step
    }

    // MARK: Producer

    /// Writes a block, or drops it if the ring is full and its oldest block is being read. Producer only.
    ///
    /// - Parameters:
    ///   - block: ``AudioFormat/hopSamples`` samples.
    ///   - time: When its last sample was captured, on the producer's clock.
    ///   - played: What a loudspeaker played meanwhile, as many samples, or none.
    /// - Returns: Whether the block was written.
    @discardableResult
    public func write(_ block: Span<Float>, time: Instant, played new: Span<Float> = Span()) -> Bool {
        precondition(block.count == AudioFormat.hopSamples, "a block has \(AudioFormat.hopSamples) samples")
        let sequence = offered.value.load(ordering: .relaxed)
        offered.value.store(sequence + 1, ordering: .relaxed)
        let slot = writeIndex.value.load(ordering: .relaxed)
        guard makeRoom(before: slot) else {
            lost.note(.ringFull, blocks: 1)
            return false
        }
        let place = Int(slot % UInt64(slots))
        let hasPlayed = played != nil && new.count == AudioFormat.hopSamples
        stamps[place] = (sequence, time, hasPlayed)
        if hasPlayed, let played {
            for index in new.indices { played[place * AudioFormat.hopSamples + index] = new[index] }
        }
        block.withUnsafeBufferPointer { block in
            if let source = block.baseAddress {
                memcpy(memory.start + place * BlockRing.blockBytes, source, BlockRing.blockBytes)
            }
        }
        writeIndex.value.store(slot + 1, ordering: .releasing)
        return true
    }

    /// Drops the oldest unread block if the ring is full; false if the consumer holds it.
    private func makeRoom(before slot: UInt64) -> Bool {
        var index = readIndex.value.load(ordering: .acquiring)
        while slot - index / 2 >= UInt64(capacity) {
            if index % 2 == 1 { return false }
            let (exchanged, now) = readIndex.value.compareExchange(
                expected: index,
                desired: index + 2,
                ordering: .acquiringAndReleasing
            )
            if exchanged {
                lost.note(.ringFull, blocks: 1)
                return true
            }
            index = now
        }
        return true
    }

    // MARK: Consumer

    /// Passes the window that ends with the next unread block, and marks that block as read. Consumer only.
    ///
    /// The window is valid only inside `body`, and does not change while `body` runs.
    ///
    /// - Parameter body: Gets ``AudioFormat/windowSamples`` samples, oldest first, and the newest block.
    /// - Returns: False if there was no unread block; ``Counts/underruns`` counts that.
    public func withWindow<Failure: Error>(
        _ body: (Span<Float>, AudioBlock) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        guard let slot = claim() else {
            underruns.increment()
            return false
        }
        defer {
            consumed.increment()
            readIndex.value.store((slot + 1) * 2, ordering: .releasing)
        }
        reading.value.store(slot, ordering: .relaxed)
        let block = newestBlock(slot)
        let first = Int((slot + UInt64(slots) - UInt64(AudioFormat.windowHops - 1)) % UInt64(slots))
        let start = memory.start + first * BlockRing.blockBytes
        // The slots before the gap were read or dropped, so they belong to the consumer and it may clear them.
        memset(start, 0, (AudioFormat.windowHops - block.filled) * BlockRing.blockBytes)
        let samples = UnsafeBufferPointer(
            start: UnsafePointer(start.assumingMemoryBound(to: Float.self)),
            count: AudioFormat.windowSamples
        )
        try body(samples.span, block)
        return true
    }

    /// Copies what a loudspeaker played during the newest block of the window that is being read. Consumer only, within ``withWindow(_:)``.
    ///
    /// - Parameter samples: As many as a block has.
    /// - Returns: False if nothing is known of it; the samples stay as they are.
    public func copyPlayed(to samples: inout [Float]) -> Bool {
        let place = Int(reading.value.load(ordering: .relaxed) % UInt64(slots))
        guard let played, stamps[place].hasPlayed, samples.count == AudioFormat.hopSamples else { return false }
        for index in samples.indices { samples[index] = played[place * AudioFormat.hopSamples + index] }
        return true
    }

    /// Marks the oldest unread block that is not stale as busy. Returns its slot; nil if there is none.
    private func claim() -> UInt64? {
        var index = readIndex.value.load(ordering: .relaxed)
        while true {
            let slot = index / 2
            let end = writeIndex.value.load(ordering: .acquiring)
            let fresh = min(max(floor.value.load(ordering: .acquiring), slot), end)
            // If all unread slots are stale, the index still moves past them, not marked busy: the ring is then empty.
            if fresh == end, slot == end { return nil }
            let (exchanged, now) = readIndex.value.compareExchange(
                expected: index,
                desired: fresh * 2 + (fresh < end ? 1 : 0),
                ordering: .acquiringAndReleasing
            )
            guard exchanged else {
                index = now
                continue
            }
            stale.increment(by: fresh - slot)
            lost.note(.stale, blocks: fresh - slot)
            return fresh < end ? fresh : nil
        }
    }

    /// Makes the metadata of a block: continuity within its window, and with the block read before.
    private func newestBlock(_ slot: UInt64) -> AudioBlock {
        let newest = stamps[Int(slot % UInt64(slots))]
        let stretch = slot - min(floor.value.load(ordering: .relaxed), slot)
        var filled: UInt64 = 1
        while filled < UInt64(AudioFormat.windowHops), filled <= stretch {
            let older = stamps[Int((slot - filled) % UInt64(slots))]
            guard older.sequence + filled == newest.sequence else { break }
            filled += 1
        }
        let next = expected.value.load(ordering: .relaxed)
        expected.value.store(newest.sequence + 1, ordering: .relaxed)
        let skipped = newest.sequence - next
        let missed = skipped - min(skipped, stale.value.load(ordering: .relaxed))
        stale.value.store(0, ordering: .relaxed)
        return AudioBlock(
            sequence: newest.sequence,
            time: newest.time,
            filled: Int(filled),
            continues: newest.sequence == next && filled > 1,
            missed: missed
        )
    }

    // MARK: Either side

    /// Makes all audio written so far stale: it is neither read nor part of a later window.
    ///
    /// For a resume, an overrun or a change of the device. Any thread may call it; a window that is being read does
    /// not change.
    public func flush() {
        floor.value.max(writeIndex.value.load(ordering: .acquiring), ordering: .acquiringAndReleasing)
    }
}

extension BlockRing {
    /// Counters of blocks since the ring was created.
    public struct Counts: Equatable, Sendable {
        /// Blocks passed to ``BlockRing/write(_:time:)``; while both sides are idle, the sum of the next four.
        public var offered: UInt64
        /// Blocks the consumer has read.
        public var read: UInt64
        /// Blocks lost because the ring was full.
        public var dropped: UInt64
        /// Stale blocks that the consumer skipped after a ``BlockRing/flush()``.
        public var flushed: UInt64
        /// Unread blocks, including stale ones that the consumer has not skipped yet.
        public var unread: UInt64
        /// How often the consumer found no unread block.
        public var underruns: UInt64
    }

    /// The counters now. Each is correct; they are consistent with each other only while both sides are idle.
    public var counts: Counts {
        let read = readIndex.value.load(ordering: .acquiring) / 2
        let written = writeIndex.value.load(ordering: .acquiring)
        return Counts(
            offered: offered.value.load(ordering: .relaxed),
            read: consumed.value.load(ordering: .relaxed),
            dropped: lost.blocks(.ringFull),
            flushed: lost.blocks(.stale),
            unread: written - min(read, written),
            underruns: underruns.value.load(ordering: .relaxed)
        )
    }
}

/// An atomic number on a cache line (64 bytes) of its own, so that the two sides do not slow each other down.
private struct CacheLine: ~Copyable {
    let value: Atomic<UInt64>
    // Two numbers 64 bytes apart never share a cache line, whatever the object's alignment.
    private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)

    init(_ initial: UInt64) { value = Atomic(initial) }

    /// Adds without an atomic read-modify-write, for a number that only one thread writes.
    func increment(by amount: UInt64 = 1) {
        value.store(value.load(ordering: .relaxed) + amount, ordering: .relaxed)
    }
}
