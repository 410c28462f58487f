private import Core

/// `part / whole`; nil if the whole is 0.
func ratio(_ part: Int, _ whole: Int) -> Double? { whole > 0 ? Double(part) / Double(whole) : nil }

/// Events per hour; nil if `seconds` is 0.
func perHour(_ count: Int, seconds: Double) -> Double? { seconds > 0 ? Double(count) * 3600 / seconds : nil }

/// The nearest-rank percentile: the lowest value that at least `share` of the values do not exceed; nil without values.
///
/// - Parameter share: 0…1, such as 0.95.
public func percentile(_ values: [Double], _ share: Double) -> Double? {
    let sorted = values.sorted()
    guard let last = sorted.indices.last else { return nil }
    let rank = Int((share * Double(sorted.count)).rounded(.up)) - 1
    return sorted[min(last, max(0, rank))]
}

/// A threshold as it was written: 0.9, not 0.8999999762, the nearest `Float`.
func asWritten(_ threshold: Float) -> Double { Double(decimal: threshold.description) ?? Double(threshold) }
