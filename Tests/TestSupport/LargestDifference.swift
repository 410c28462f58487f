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
