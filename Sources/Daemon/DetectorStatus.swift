import Core
import Synchronization

/// What the detector does now and has done so far.
public struct DetectorStatus: Equatable, Sendable {
    /// Blocks heard.
    public var hops: UInt64
    /// Blocks left out because the detector was behind.
    public var droppedBlocks: UInt64
    /// Times the audio did not go on where it had stopped.
    public var gaps: UInt64
    /// Hops that took longer than a hop lasts.
    public var lateHops: UInt64
    /// How long the longest hop took.
    public var longestHop: Duration
    /// How long all hops together took.
    public var busy: Duration
    /// Smoothed posteriors after the newest hop, one a label of the model.
    public var scores: [Float]
}

/// The numbers of a ``DetectorStatus``. The detector's thread writes them and never waits; any thread may read.
final class DetectorRecord: Sendable {
    let hops = Atomic<UInt64>(0)
    let dropped = Atomic<UInt64>(0)
    let gaps = Atomic<UInt64>(0)
    private let late = Atomic<UInt64>(0)
    private let longest = Atomic<Int64>(0)
    private let busy = Atomic<Int64>(0)
    private let scores = Mutex<[Float]>([])

    /// Makes room for the scores; allocates.
    func prepare(labels: Int) { scores.withLock { $0 = [Float](repeating: 0, count: labels) } }

    /// A hop is done. Allocates nothing; scores that another thread is just reading stay those of the hop before.
    func note(_ newest: Span<Float>, began: Instant, ended: Instant) {
        scores.withLockIfAvailable { scores in
            guard scores.count == newest.count else { return }
            for index in scores.indices { scores[index] = newest[index] }
        }
        let duration = (ended - began).nanoseconds
        busy.add(duration, ordering: .relaxed)
        if duration > longest.load(ordering: .relaxed) { longest.store(duration, ordering: .relaxed) }
        if duration > AudioFormat.hopDuration.nanoseconds { late.add(1, ordering: .relaxed) }
        hops.add(1, ordering: .releasing)
    }

    var status: DetectorStatus {
        DetectorStatus(
            hops: hops.load(ordering: .acquiring),
            droppedBlocks: dropped.load(ordering: .relaxed),
            gaps: gaps.load(ordering: .relaxed),
            lateHops: late.load(ordering: .relaxed),
            longestHop: .nanoseconds(longest.load(ordering: .relaxed)),
            busy: .nanoseconds(busy.load(ordering: .relaxed)),
            scores: scores.withLock { Array($0) }
        )
    }
}
