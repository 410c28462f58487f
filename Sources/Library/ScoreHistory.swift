/// The scores of the newest hops of a stream, ten a second, at one place in memory.
///
/// Used by one thread at a time, as its stream is.
public final class ScoreHistory {
    /// Scores of a hop, in the order of ``Spotter/labels``.
    public let labels: Int
    /// Hops since the stream began, also those that are not kept any more.
    public private(set) var hops = 0
    private let capacity: Int
    /// Each hop twice, `[2 × capacity × labels]`, so that the newest are always one piece. Given back as a whole, because callers look at
    /// it in place.
    private let memory: UnsafeMutableBufferPointer<Float>

    init(labels: Int, hops capacity: Int) {
        (self.labels, self.capacity) = (labels, capacity)
        memory = .allocate(capacity: 2 * capacity * labels)
    }

    deinit { memory.deallocate() }

    func add(_ scores: [Float]) {
        let place = hops % capacity
        for row in [place, place + capacity] {
            for label in 0..<labels {
                let score = scores.indices.contains(label) ? scores[label] : 0
                (memory.baseAddress.map { $0 + (row * labels + label) })?.initialize(to: score)
            }
        }
        hops += 1
    }

    /// The scores of the newest hops, `[hops × labels]`, the oldest first, each 0…1: what thresholds are compared with, smoothed over
    /// three hops. Not copied: the next samples change them, and they are there as long as this object.
    public var newest: UnsafeBufferPointer<Float> {
        let count = min(hops, capacity)
        let first = hops > capacity ? hops % capacity : 0
        return UnsafeBufferPointer(rebasing: memory[first * labels..<(first + count) * labels])
    }
}
