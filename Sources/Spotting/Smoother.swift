/// Averages the last few posterior vectors, the newer ones weighing more.
///
/// The vector at position p of N (0 oldest) weighs ((1 + p) / N)^exponent. One odd hop so moves the average little,
/// while a word still gets through in a few hops. Nothing is allocated after `init`.
public struct Smoother {
    /// The weighted mean of the vectors seen since the last `flush()`, one value a label; it sums to one as they do.
    public private(set) var average: [Float]

    /// What `average` would become, after `foresee`, or has become.
    public private(set) var foreseen: [Float]

    private let labels: Int
    private let weights: [Float]
    private var history: [Float]
    private var next = 0
    private var filled = 0

    /// - Parameters:
    ///   - labels: length of each posterior vector.
    ///   - count: vectors kept (N), at least 1; 1 passes posteriors through.
    ///   - exponent: 0 weighs all alike; larger values favour the newest more.
    public init(labels: Int, count: Int, exponent: Float) {
        let count = max(1, count)
        self.labels = labels
        weights = (0..<count).map { power(Float(1 + $0) / Float(count), exponent) }
        history = [Float](repeating: 0, count: labels * count)
        average = [Float](repeating: 0, count: labels)
        foreseen = average
    }

    /// Takes one posterior vector in and updates `average`. Vectors of another length are ignored.
    public mutating func add(_ posteriors: [Float]) {
        guard posteriors.count == labels else { return }
        foresee(posteriors)
        for label in 0..<labels {
            average[label] = foreseen[label]
            history[next * labels + label] = posteriors[label]
        }
        next = (next + 1) % weights.count
        filled = min(filled + 1, weights.count)
    }

    /// Computes in `foreseen` what `average` would become if this vector came next; nothing else changes.
    public mutating func foresee(_ posteriors: [Float]) {
        guard posteriors.count == labels else { return }
        let count = weights.count
        // The newest vector has the last weight whether or not the history is full yet.
        var total = weights[count - 1]
        for label in 0..<labels { foreseen[label] = total * posteriors[label] }
        for age in 0..<min(filled, count - 1) {
            let weight = weights[count - 2 - age]
            let row = (next + count - 1 - age) % count
            total += weight
            for label in 0..<labels { foreseen[label] += weight * history[row * labels + label] }
        }
        for label in 0..<labels { foreseen[label] /= total }
    }

    /// Forgets everything, as after a gap in the audio.
    public mutating func flush() {
        next = 0
        filled = 0
        for label in 0..<labels { average[label] = 0 }
    }
}
