/// `part / whole`, nil where the whole is nothing.
func ratio(_ part: Int, _ whole: Int) -> Double? { whole > 0 ? Double(part) / Double(whole) : nil }

/// Events an hour, nil where there was no time for any.
func perHour(_ count: Int, seconds: Double) -> Double? { seconds > 0 ? Double(count) * 3600 / seconds : nil }

/// The least of the values that at least this share of them does not exceed (nearest rank); nil where there are none.
///
/// - Parameter share: 0…1.
public func percentile(_ values: [Double], _ share: Double) -> Double? {
    let sorted = values.sorted()
    guard let last = sorted.indices.last else { return nil }
    let rank = Int((share * Double(sorted.count)).rounded(.up)) - 1
    return sorted[min(last, max(0, rank))]
}

/// A threshold as it was written down, 0.9 and not the 0.8999999762 that a `Float` makes of it.
func asWritten(_ threshold: Float) -> Double { Double(threshold.description) ?? Double(threshold) }
