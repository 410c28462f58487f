private import Glibc

/// How often something rare is above a value, by the highest values that were seen in some hours.
///
/// Within what was seen it counts; beyond it goes on as the highest values do, which fall off exponentially in rate. Source:
/// the peaks-over-threshold method of extreme-value theory with an exponential tail.
struct PeaksOverThreshold: Sendable {
    /// Values that the slope is taken from.
    private static let used = 40

    /// Highest first.
    private let values: [Float]
    private let hours: Double
    /// Value by which the rate falls to 1 / e.
    private let slope: Double

    /// - Parameter values: highest first.
    init(_ values: [Float], hours: Double) {
        self.values = Array(values.prefix(200))
        self.hours = hours
        let used = self.values.prefix(Self.used)
        let least = used.last ?? 0
        let mean = used.reduce(0) { $0 + Double($1 - least) } / Double(max(1, used.count - 1))
        slope = max(mean, 1e-3)
    }

    /// Times an hour that it is above `value`.
    func rate(above value: Float) -> Double {
        guard let least = values.prefix(Self.used).last, hours > 0 else { return 0 }
        let count = Double(min(Self.used, values.count))
        if value < least { return Double(values.count { $0 >= value }) / hours }
        return count / hours * exp(-Double(value - least) / slope)
    }

    /// The value above which it is so many times an hour.
    func value(rate: Double) -> Float {
        guard let least = values.prefix(Self.used).last, hours > 0 else { return -1 }
        let count = Double(min(Self.used, values.count))
        let wanted = rate * hours
        if wanted > count { return values[min(values.count - 1, Int(wanted))] }
        return least + Float(slope * log(count / max(wanted, 1e-9)))
    }
}

/// How often a word that is said again is likely to be as like its takes as a value asks.
struct Similarity: Sendable {
    /// Mean and deviation of one more saying, between those by the same voice (0.94) and by others (0.73): what counts until there
    /// are more takes to go by.
    private static let usual = (mean: 0.83, deviation: 0.08)

    let mean: Double
    let deviation: Double

    /// - Parameter values: the likeness of each take with the others; none where there is but one take.
    init(_ values: [Float]) {
        let (usual, count) = (Self.usual, Double(values.count))
        let mean = (values.reduce(0) { $0 + Double($1) } + 2 * usual.mean) / (count + 2)
        let squares = values.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) }
        self.mean = mean
        deviation = ((squares + 4 * usual.deviation * usual.deviation) / (count + 4)).squareRoot()
    }

    /// Probability that it is less like them than `value`.
    func missed(below value: Float) -> Double {
        0.5 * erfc((mean - Double(value)) / (deviation * 2.0.squareRoot()))
    }

    /// The value that so many sayings do not reach.
    func value(deviations: Double) -> Float { Float(mean - deviations * deviation) }
}
