/// Converts `count` half-precision numbers, little-endian and at any alignment, to floats.
///
/// It uses integer arithmetic, because baseline x86-64 has no instruction for the conversion, and the runtime library's
/// routine costs a call per number.
public func widenHalf(_ source: UnsafeRawPointer, to target: UnsafeMutablePointer<Float>, count: Int) {
    for index in 0..<count {
        let half = UInt32(UInt16(littleEndian: source.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)))
        let sign = (half & 0x8000) << 16
        let exponent = (half >> 10) & 0x1F
        let fraction = half & 0x03FF
        let magnitude: UInt32
        if exponent == 0 {
            // Zero and subnormal numbers are integer multiples of 2⁻²⁴.
            magnitude = (Float(fraction) * 0x1p-24).bitPattern
        } else if exponent == 31 {
            magnitude = 0x7F80_0000 | fraction << 13
        } else {
            magnitude = (exponent + 112) << 23 | fraction << 13
        }
        target[index] = Float(bitPattern: sign | magnitude)
    }
}

/// Index of the first number that is NaN or infinite; nil if all are finite.
public func firstNonFinite(_ source: UnsafePointer<Float>, count: Int) -> Int? {
    for index in 0..<count where !source[index].isFinite { return index }
    return nil
}

/// Converts `count` unsigned bytes to floats.
public func widenBytes(_ source: UnsafeRawPointer, to target: UnsafeMutablePointer<Float>, count: Int) {
    for index in 0..<count { target[index] = Float(source.load(fromByteOffset: index, as: UInt8.self)) }
}

/// Converts `count` signed bytes to floats.
public func widenSignedBytes(_ source: UnsafeRawPointer, to target: UnsafeMutablePointer<Float>, count: Int) {
    for index in 0..<count { target[index] = Float(source.load(fromByteOffset: index, as: Int8.self)) }
}

/// Writes `count` numbers, each times a factor and rounded to the nearest IEEE half-precision number, ties to even; larger ones than
/// 65504 are rounded to infinity.
///
/// - Parameter target: it may be `source`.
public func scaleToHalf(
    _ source: UnsafePointer<Float>,
    by factor: Float,
    to target: UnsafeMutablePointer<Float>,
    count: Int
) {
    for index in 0..<count {
        let number = source[index] * factor
        let bits = number.bitPattern
        let magnitude = bits & 0x7FFF_FFFF
        let normal = (magnitude &+ 0x0FFF &+ (magnitude >> 13 & 1)) & ~0x1FFF
        // Below 2⁻¹⁴ halves are multiples of 2⁻²⁴, which are the last digits of floats near 0.75.
        let small = (Float(bitPattern: magnitude) + 0.75) - 0.75
        let rounded = magnitude < 0x3880_0000 ? small.bitPattern : normal < 0x4780_0000 ? normal : 0x7F80_0000
        target[index] = Float(bitPattern: (number.isNaN ? magnitude : rounded) | bits & 0x8000_0000)
    }
}

/// Converts `count` signed 16-bit integers, little-endian and at any alignment, to floats.
public func widenShorts(_ source: UnsafeRawPointer, to target: UnsafeMutablePointer<Float>, count: Int) {
    for index in 0..<count {
        target[index] = Float(Int16(littleEndian: source.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self)))
    }
}

/// Multiplies `count` samples by a factor.
public func scale(
    _ input: UnsafePointer<Float>,
    by factor: Float,
    to output: UnsafeMutablePointer<Float>,
    count: Int
) {
    for index in 0..<count { output[index] = input[index] * factor }
}

/// The largest magnitude of `count` samples; NaN if a sample is not finite.
public func peak(_ source: UnsafePointer<Float>, count: Int) -> Float {
    let lanes = SIMD16<Float>.scalarCount
    var highest = SIMD16<Float>.zero
    var sum = SIMD16<Float>.zero
    let whole = count / lanes * lanes
    let bytes = UnsafeRawPointer(source)
    for index in stride(from: 0, to: whole, by: lanes) {
        let next = bytes.loadUnaligned(fromByteOffset: 4 * index, as: SIMD16<Float>.self)
        let magnitude = next.replacing(with: 0 - next, where: next .< 0)
        highest.replace(with: magnitude, where: magnitude .> highest)
        // Not finite, if one of the samples is not; infinity minus itself is NaN.
        sum += next - next
    }
    for index in whole..<count {
        highest[0] = max(highest[0], abs(source[index]))
        sum[0] += source[index] - source[index]
    }
    return sum.sum() == 0 ? highest.max() : .nan
}

/// Multiplies `count` samples by a factor and rounds them to signed 16-bit integers; the products must be in their range.
public func narrowToShorts(
    _ source: UnsafePointer<Float>,
    by factor: Float,
    to target: UnsafeMutablePointer<Int16>,
    count: Int
) {
    // Added to this, a number below 2²² is rounded, and its integer is in the low bits.
    let bias: Float = 0x1.8p23
    for index in 0..<count {
        target[index] = Int16(truncatingIfNeeded: Int32(bitPattern: (source[index] * factor + bias).bitPattern))
    }
}
