/// Turns the sums of a layer into its outputs: sum · scale, in integers.
///
/// A scale is a factor of 31 bits and a power of two. The product is rounded twice, each time to the nearest integer and ties upwards: to the
/// factor's unit, and after the shift to the right. The last bit of the result depends on this order.
struct Rescaling: BitwiseCopyable {
    /// In units of 2 to the power of −31.
    let factor: Int32
    let left: Int32
    let right: Int32
    /// −1 if the second rounding takes ties away from zero, else 0.
    private let awayFromZero: Int64

    /// - Parameter tiesAway: whether the second rounding takes ties away from zero.
    /// - Throws: `WakeWordError.damaged` for a scale that is not a number of usual size.
    init(_ scale: Double, tiesAway: Bool = false) throws(WakeWordError) {
        guard scale.isFinite, scale > 0, scale.exponent < 30 else {
            throw .damaged.saying("a layer has the scale \(scale)")
        }
        var fraction = (scale.significand / 2 * 0x1p31).rounded()
        var exponent = Int(scale.exponent) + 1
        if fraction == 0x1p31 {
            fraction /= 2
            exponent += 1
        }
        // Every sum becomes 0.
        if exponent < -31 { (fraction, exponent) = (0, 0) }
        factor = Int32(fraction)
        left = Int32(max(0, exponent))
        right = Int32(max(0, -exponent))
        awayFromZero = tiesAway && right > 0 ? -1 : 0
    }

    /// For the mean of `count` numbers: the factor is divided, so that sums can be scaled.
    init(_ scale: Double, ofMean count: Int) throws(WakeWordError) {
        let whole = try Rescaling(scale)
        let exponent = Int(whole.left) - Int(whole.right)
        // As many bits more for the factor as the division takes, and no shift of more than 31.
        let bits = min(Int.bitWidth - 1 - max(count, 1).leadingZeroBitCount, 31 + exponent)
        factor = Int32(truncatingIfNeeded: (Int64(whole.factor) << Int64(bits)) / Int64(max(count, 1)))
        left = Int32(max(0, exponent - bits))
        right = Int32(max(0, bits - exponent))
        awayFromZero = right > 0 ? -1 : 0
    }

    @inline(__always)
    func apply(_ sum: Int32) -> Int32 {
        let high = (Int64(sum &<< left) &* Int64(factor) &+ 0x4000_0000) &>> 31
        let half = (Int64(1) &<< Int64(right)) &>> 1
        return Int32(truncatingIfNeeded: (high &+ half &+ ((high &>> 63) & awayFromZero)) &>> Int64(right))
    }
}
