private import Glibc

/// Maps the values of an axis to positions along it.
public struct Scale: Sendable, Equatable {
    enum Kind: Sendable, Equatable { case linear, time, log, probit }

    let kind: Kind
    public let lower: Double
    public let upper: Double

    /// Linear.
    public static func linear(_ lower: Double, _ upper: Double) -> Scale { Scale(.linear, lower, upper) }

    /// Linear in seconds, with ticks of clock times.
    public static func time(_ lower: Double, _ upper: Double) -> Scale { Scale(.time, lower, upper) }

    /// Logarithmic; both ends are positive.
    public static func log(_ lower: Double, _ upper: Double) -> Scale { Scale(.log, lower, upper) }

    /// The normal deviate of a probability, as on the axes of a DET curve (Martin et al. 1997): where the scores of both
    /// classes are normally distributed, the curve is a straight line. Both ends within (0, 1).
    public static func probit(_ lower: Double, _ upper: Double) -> Scale { Scale(.probit, lower, upper) }

    /// Ends outside the domain of the scale, or in the wrong order, are replaced by valid ones.
    private init(_ kind: Kind, _ lower: Double, _ upper: Double) {
        var (low, high) = lower <= upper ? (lower, upper) : (upper, lower)
        if !low.isFinite || !high.isFinite { (low, high) = kind == .log ? (0.1, 1) : (0, 1) }
        switch kind {
        case .linear, .time:
            (low, high) = (min(max(low, -1e12), 1e12), min(max(high, -1e12), 1e12))
            if high - low < 1e-9 * max(1, abs(low)) { (low, high) = (low - 0.5, low + 0.5) }
        case .log:
            high = max(high, 1e-9)
            low = low > 1e-12 ? low : high / 1000
            if high / low < 1.001 { (low, high) = (low / 2, high * 2) }
        case .probit:
            (low, high) = (max(low, 1e-6), min(high, 1 - 1e-6))
            if high - low < 1e-9 { (low, high) = (0.001, 0.999) }
        }
        self.kind = kind
        self.lower = low
        self.upper = high
    }

    /// Position of a value: 0 at the lower end, 1 at the upper, less or more outside.
    ///
    /// - Returns: nil for NaN and infinities; on a log scale for values ≤ 0; on a probit scale for values outside (0, 1).
    public func position(of value: Double) -> Double? {
        guard value.isFinite, let here = transformed(value), let low = transformed(lower),
            let high = transformed(upper)
        else { return nil }
        return (here - low) / (high - low)
    }

    private func transformed(_ value: Double) -> Double? {
        switch kind {
        case .linear, .time: value
        case .log: value > 0 ? log10(value) : nil
        case .probit: value > 0 && value < 1 ? normalDeviate(value) : nil
        }
    }
}

/// Quantile of the standard normal distribution for probability `p`, 0 < p < 1, by Newton's method on `erfc`.
func normalDeviate(_ p: Double) -> Double {
    // By symmetry only the lower half is solved, where erfc is precise.
    guard p <= 0.5 else { return -normalDeviate(1 - p) }
    var z = 0.0
    for _ in 0..<100 {
        let below = 0.5 * erfc(-z / 2.0.squareRoot())
        // The logarithm is concave: the first step ends left of the root, and later ones do not overshoot.
        let density = exp(-z * z / 2) / (2 * Double.pi).squareRoot()
        let step = (Glibc.log(below) - Glibc.log(p)) * below / density
        z -= step
        if abs(step) < 1e-12 { break }
    }
    return z
}
