private import Glibc

/// Bounds of a figure that was counted: exact, so that they hold for few counts too.
public struct Interval: Sendable, Equatable, Encodable {
    public let lower: Double
    public let upper: Double

    /// The 95 % interval of a share (Clopper and Pearson 1934); nil without trials.
    ///
    /// - Parameters:
    ///   - count: successes, `0...trials`.
    ///   - trials: how often it was tried.
    public init?(count: Int, of trials: Int) {
        guard trials > 0, (0...trials).contains(count) else { return nil }
        lower = count == 0 ? 0 : Self.root(in: 0...1) { binomial(atMost: count - 1, of: trials, $0) < 1 - Self.tail }
        upper = count == trials ? 1 : Self.root(in: 0...1) { binomial(atMost: count, of: trials, $0) < Self.tail }
    }

    /// The 95 % interval of a rate per hour (Garwood 1936); nil without time.
    public init?(count: Int, seconds: Double) {
        guard seconds > 0, count >= 0 else { return nil }
        let hours = seconds / 3600
        // The mean is below it with a probability of more than 99.9 %.
        let most = Double(count) + 10 * (Double(count).squareRoot() + 1)
        lower = count == 0 ? 0 : Self.root(in: 0...most) { poisson(atMost: count - 1, $0) < 1 - Self.tail } / hours
        upper = Self.root(in: 0...most) { poisson(atMost: count, $0) < Self.tail } / hours
    }

    init(lower: Double, upper: Double) { (self.lower, self.upper) = (lower, upper) }

    private static let tail = 0.025

    /// Where a condition that is false below and true above begins to hold.
    private static func root(in range: ClosedRange<Double>, _ holds: (Double) -> Bool) -> Double {
        var (low, high) = (range.lowerBound, range.upperBound)
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if holds(middle) { high = middle } else { low = middle }
        }
        return high
    }
}

/// The probability of at most `count` successes in `trials` with a probability of `share` each.
func binomial(atMost count: Int, of trials: Int, _ share: Double) -> Double {
    guard count >= 0 else { return 0 }
    guard count < trials, share > 0 else { return 1 }
    guard share < 1 else { return 0 }
    let (yes, no) = (log(share), log1p(-share))
    let sum = (0...count).reduce(0.0) { sum, number in
        sum + exp(logChoose(trials, number) + Double(number) * yes + Double(trials - number) * no)
    }
    return min(1, sum)
}

/// The probability of at most `count` events where `mean` are expected.
func poisson(atMost count: Int, _ mean: Double) -> Double {
    guard count >= 0 else { return 0 }
    guard mean > 0 else { return 1 }
    return min(1, (0...count).reduce(0.0) { $0 + exp(Double($1) * log(mean) - mean - lgamma(Double($1) + 1)) })
}

private func logChoose(_ whole: Int, _ part: Int) -> Double {
    lgamma(Double(whole) + 1) - lgamma(Double(part) + 1) - lgamma(Double(whole - part) + 1)
}
