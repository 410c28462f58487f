import Audio
public import Core
import Synchronization

/// The detector's counters, timings and newest scores.
public struct DetectorStatus: Equatable, Sendable {
    /// Hops processed, one per block of 100 ms.
    public var hops: UInt64
    /// Blocks not processed because the detector was late: skipped by it, or dropped by the full ring.
    public var droppedBlocks: UInt64
    /// Those of them that the detector skipped, because they were too old.
    public var skippedBlocks: UInt64
    /// Discontinuities in the audio: a lost device, an overrun or skipped blocks.
    public var gaps: UInt64
    /// Hops that took longer than 100 ms to process.
    public var lateHops: UInt64
    /// The processing time of the slowest hop.
    public var longestHop: Duration
    /// The processing time of all hops together.
    public var busy: Duration
    /// Proposals that confirming networks looked at, and those of them after which no word was found.
    public var looks: UInt64
    public var refusedLooks: UInt64
    /// The processing time of the slowest hop with a look; the look is most of it.
    public var longestLook: Duration
    /// How many hops took how long: at most each of ``hopBounds`` and more than the one before; the last has no bound.
    public var hopCounts: [UInt64]
    /// When the newest hop ended, on the monotonic clock; nil before the first.
    public var newestHop: Instant?
    /// Changes of settings, and the hops that could not be processed because of them.
    public var changes: UInt64
    public var hopsMissedByChanges: UInt64
    /// Smoothed posteriors after the newest hop, `[labels]`; of a wake word with a model of its own, its newest score.
    public var scores: [Float]

    /// Upper bounds of the times that are counted in ``hopCounts``.
    public static let hopBounds: [Duration] = [250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000]
        .map { .microseconds($0) }
}

/// The live values of a ``DetectorStatus``. The detector's thread writes them without waiting; any thread may read.
final class DetectorRecord: Sendable {
    /// Where the blocks that the detector skips are counted, and what else was lost before it.
    let lost: LostAudio
    let hops = Atomic<UInt64>(0)
    let gaps = Atomic<UInt64>(0)
    let changes = Atomic<UInt64>(0)
    private let looks = Atomic<UInt64>(0)
    private let refusedLooks = Atomic<UInt64>(0)
    private let longestLook = Atomic<Int64>(0)
    private let late = Atomic<UInt64>(0)
    private let longest = Atomic<Int64>(0)
    private let busy = Atomic<Int64>(0)
    private let newestHop = Atomic<Int64>(0)
    /// As many as ``bounds``, and one.
    private let counts: InlineArray<11, Atomic<UInt64>> = InlineArray { _ in Atomic(0) }
    /// Nanoseconds of ``DetectorStatus/hopBounds``.
    private let bounds: InlineArray<10, Int64> = InlineArray { DetectorStatus.hopBounds[$0].nanoseconds }
    private let scores = Mutex<[Float]>([])

    init(_ lost: LostAudio = LostAudio()) { self.lost = lost }

    /// Sets the number of scores; allocates.
    func prepare(labels: Int) { scores.withLock { $0 = [Float](repeating: 0, count: labels) } }

    /// Records a finished hop. Does not allocate or wait: while another thread reads the scores, the older ones stay.
    ///
    /// - Parameter complete: sets scores that are not among the newest.
    func note(_ newest: Span<Float>, began: Instant, ended: Instant, complete: (inout [Float]) -> Void = { _ in }) {
        scores.withLockIfAvailable { scores in
            guard scores.count == newest.count else { return }
            for index in scores.indices { scores[index] = newest[index] }
            complete(&scores)
        }
        let duration = (ended - began).nanoseconds
        busy.add(duration, ordering: .relaxed)
        if duration > longest.load(ordering: .relaxed) { longest.store(duration, ordering: .relaxed) }
        if duration > AudioFormat.hopDuration.nanoseconds { late.add(1, ordering: .relaxed) }
        var bucket = 0
        while bucket < bounds.count, duration > bounds[bucket] { bucket += 1 }
        counts[bucket].add(1, ordering: .relaxed)
        newestHop.store(ended.nanoseconds, ordering: .relaxed)
        hops.add(1, ordering: .releasing)
    }

    /// Records the looks so far, of which the newest were in work that took so long. Does not allocate or wait.
    func note(looks newest: Int, refused: Int, took duration: Duration) {
        let newest = UInt64(clamping: newest)
        guard newest != looks.load(ordering: .relaxed) else { return }
        looks.store(newest, ordering: .relaxed)
        refusedLooks.store(UInt64(clamping: refused), ordering: .relaxed)
        let duration = duration.nanoseconds
        if duration > longestLook.load(ordering: .relaxed) { longestLook.store(duration, ordering: .relaxed) }
    }

    var status: DetectorStatus {
        let hops = hops.load(ordering: .acquiring)
        return DetectorStatus(
            hops: hops,
            droppedBlocks: lost.blocks(.late) + lost.blocks(.ringFull),
            skippedBlocks: lost.blocks(.late),
            gaps: gaps.load(ordering: .relaxed),
            lateHops: late.load(ordering: .relaxed),
            longestHop: .nanoseconds(longest.load(ordering: .relaxed)),
            busy: .nanoseconds(busy.load(ordering: .relaxed)),
            looks: looks.load(ordering: .relaxed),
            refusedLooks: refusedLooks.load(ordering: .relaxed),
            longestLook: .nanoseconds(longestLook.load(ordering: .relaxed)),
            hopCounts: counts.indices.map { counts[$0].load(ordering: .relaxed) },
            newestHop: hops > 0 ? Instant(nanoseconds: newestHop.load(ordering: .relaxed)) : nil,
            changes: changes.load(ordering: .relaxed),
            hopsMissedByChanges: lost.blocks(.settings),
            scores: scores.withLock { Array($0) }
        )
    }
}
