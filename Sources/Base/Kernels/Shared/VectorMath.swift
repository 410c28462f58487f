// Logarithm and exponential by minimax polynomials, weighted for constant relative error: a call of the C library for
// each lane would cost more than the FFT.

/// Natural logarithm of positive normal numbers, to about 1 ulp; infinity and NaN are returned unchanged.
@inline(__always)
func naturalLogarithm(_ x: FrameVector) -> FrameVector {
    // x = 2^exponent · (1 + f) with 1 + f in [√½, √2); the offset moves the boundary between exponents to √½.
    let offset = FrameBits(repeating: 0x3F35_04F3)
    let shifted = unsafeBitCast(x, to: FrameBits.self) &- offset
    let mantissa = (shifted & 0x007F_FFFF) &+ offset
    let f = unsafeBitCast(mantissa, to: FrameVector.self) - 1
    // The exponent as a float, without a conversion: insert it as the low bits of 2²³, then subtract 2²³.
    let biased = ((shifted &+ 0x4000_0000) &>> 23) | 0x4B00_0000
    let exponent = unsafeBitCast(biased, to: FrameVector.self) - (8_388_608 + 128)

    var p = FrameVector(repeating: 0.06915428)
    p = p * f - 0.11789835
    p = p * f + 0.11872964
    p = p * f - 0.12384343
    p = p * f + 0.1421866
    p = p * f - 0.16669251
    p = p * f + 0.20002227
    p = p * f - 0.24999987
    p = p * f + 0.3333331
    let square = f * f
    // ln 2 in two parts; the first has few enough bits for its product with the exponent to be exact.
    let small = p * f * square - square * 0.5 + exponent * -2.121_944_4e-4
    let result = (small + f) + exponent * 0.693_359_375
    return result.replacing(with: x, where: .!(x .< .infinity))
}

/// Exponential of numbers ≤ 0; inputs below −87 count as −87.
@inline(__always)
func exponential(_ x: FrameVector) -> FrameVector {
    let clamped = x.replacing(with: -87, where: x .< -87)
    // Adding 1.5 · 2²³ rounds to an integer, and leaves it in the low bits.
    let magic = FrameVector(repeating: 12_582_912)
    let rounded = clamped * 1.442_695_04 + magic
    let whole = rounded - magic
    let r = (clamped - whole * 0.693_359_375) + whole * 2.121_944_4e-4
    var p = FrameVector(repeating: 0.0013950479)
    p = p * r + 0.008368882
    p = p * r + 0.041666206
    p = p * r + 0.1666652
    p = p * r + 0.5
    let power = p * (r * r) + r + 1
    let scale = (unsafeBitCast(rounded, to: FrameBits.self) &+ 127) &<< 23
    return power * unsafeBitCast(scale, to: FrameVector.self)
}
