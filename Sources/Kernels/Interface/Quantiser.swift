/// How the inputs of a layer become whole numbers of seven bits: times `scale`, cut, rounded, and moved by `offset`.
///
/// None is negative then, and none above 127.
public struct Quantiser: Sendable, Equatable {
    public var scale: Float
    /// What a scaled input is cut to.
    public var low: Float
    public var high: Float
    /// Even, so that it changes no rounding.
    public var offset: Float

    public init(scale: Float, low: Float, high: Float, offset: Float) {
        self.scale = scale
        self.low = low
        self.high = high
        self.offset = offset
    }

    /// - Parameters:
    ///   - range: the largest input that must not be cut.
    ///   - isNonNegative: no input is below zero, so that those above have all the numbers.
    public init(range: Float, isNonNegative: Bool) {
        let high: Float = isNonNegative ? 127 : 63
        self.init(scale: high / range, low: isNonNegative ? 0 : -high, high: high, offset: isNonNegative ? 0 : 64)
    }

    /// Added to what was cut, it leaves the whole number in the low bits of the sum, moved by `offset`.
    @inlinable public var rounding: Float { wholeNumberRounding + offset }
}

/// Added to a number below 2²², it rounds it to a whole one, to even, whose low bits are then those of the sum.
@inlinable public var wholeNumberRounding: Float { 0x1.8p23 }

/// The nearest whole numbers of some below 2²², without the function calls that they are on SSE2.
@inlinable public func nearestWholes(_ numbers: SIMD4<Float>) -> SIMD4<Int32> {
    unsafeBitCast(numbers + wholeNumberRounding, to: SIMD4<Int32>.self)
        &- Int32(bitPattern: wholeNumberRounding.bitPattern)
}
