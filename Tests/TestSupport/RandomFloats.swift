extension SplitMix {
    /// A float, uniform over the range.
    public mutating func float(_ range: ClosedRange<Float> = -1...1) -> Float {
        range.lowerBound + Float(next() >> 40) * 0x1p-24 * (range.upperBound - range.lowerBound)
    }

    /// `count` floats, uniform over the range.
    public mutating func floats(_ count: Int, _ range: ClosedRange<Float> = -1...1) -> [Float] {
        (0..<count).map { _ in float(range) }
    }

    /// A whole number, uniform over the range.
    public mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}

/// The largest absolute difference between two lists; NaN when their lengths differ or either holds NaN.
public func largestDifference(_ a: [Float], _ b: [Float]) -> Float {
    guard a.count == b.count else { return .nan }
    var largest: Float = 0
    for (x, y) in zip(a, b) {
        let difference = abs(x - y)
        if difference.isNaN { return .nan }
        largest = max(largest, difference)
    }
    return largest
}
