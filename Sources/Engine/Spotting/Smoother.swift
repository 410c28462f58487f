private import Glibc

/// Weighted moving average of the last N posterior vectors `[labels]`.
///
/// With p₀ the oldest of the vectors and pₙ₋₁ the newest, the average is
///
///     Σ wᵢ pᵢ / Σ wᵢ,    wᵢ = ((i + 1) / N)^exponent
///
/// so a single outlier changes little while a word still passes in a few hops. Before N vectors have been added, the
/// sums run over those added so far, with the weights of the newest. Nothing is allocated after `init`.
public struct Smoother {
    /// The average since the last `flush()`, `[labels]`; sums to 1 if the vectors do.
    public private(set) var average: [Float]

    /// The newest result of `lookAhead` or `add`, `[labels]`.
    public private(set) var lookahead: [Float]

    private let labels: Int
    private let weights: [Float]
    /// Ring of posterior vectors, `[N × labels]`; row `next` is written next.
    private var history: [Float]
    private var next = 0
    private var filled = 0

    /// - Parameters:
    ///   - labels: length of each posterior vector.
    ///   - count: N, at least 1; 1 passes posteriors through.
    ///   - exponent: 0 for equal weights; larger values favour the newest vectors.
    public init(labels: Int, count: Int, exponent: Float) {
        let count = max(1, count)
        self.labels = labels
        weights = (0..<count).map { powf(Float(1 + $0) / Float(count), exponent) }
        history = [Float](repeating: 0, count: labels * count)
        average = [Float](repeating: 0, count: labels)
        lookahead = average
    }

    /// Adds one posterior vector and updates `average`. A vector of another length is ignored.
    public mutating func add(_ posteriors: [Float]) {
        guard posteriors.count == labels else { return }
        lookAhead(posteriors)
        for label in 0..<labels {
            average[label] = lookahead[label]
            history[next * labels + label] = posteriors[label]
        }
        next = (next + 1) % weights.count
        filled = min(filled + 1, weights.count)
    }

    /// Computes in `lookahead` the `average` that adding this vector would give; changes nothing else.
    public mutating func lookAhead(_ posteriors: [Float]) {
        guard posteriors.count == labels else { return }
        let count = weights.count
        // The newest vector has the last weight even while the history is not full.
        var total = weights[count - 1]
        for label in 0..<labels { lookahead[label] = total * posteriors[label] }
        for age in 0..<min(filled, count - 1) {
            let weight = weights[count - 2 - age]
            let row = (next + count - 1 - age) % count
            total += weight
            for label in 0..<labels { lookahead[label] += weight * history[row * labels + label] }
        }
        for label in 0..<labels { lookahead[label] /= total }
    }

    /// Resets to the initial state, for example after a gap in the audio.
    public mutating func flush() {
        next = 0
        filled = 0
        for label in 0..<labels { average[label] = 0 }
    }
}
