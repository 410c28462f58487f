import Evaluation

/// How long something took, over many times.
struct Timing: Codable, Equatable {
    let min: Double
    let p50: Double
    let p99: Double
    let max: Double

    /// Nil where there are no times. All are rounded to thousandths of their unit.
    init?(_ times: [Double]) {
        let sorted = times.sorted()
        guard let first = sorted.first, let last = sorted.last, let p50 = percentile(sorted, 0.5),
            let p99 = percentile(sorted, 0.99)
        else { return nil }
        min = rounded(first)
        self.p50 = rounded(p50)
        self.p99 = rounded(p99)
        max = rounded(last)
    }
}

/// Rounded to three decimals, which is what reports hold.
func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
