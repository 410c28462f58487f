import KernelInterface

#if arch(x86_64)
import _Builtin_intrinsics.intel
#endif

/// See ``KernelSet/Quantise``.
@Sendable
func quantise(
    _ input: UnsafePointer<Float>,
    to output: UnsafeMutableRawPointer,
    count: Int,
    quantiser: Quantiser
) -> Bool {
    let target = output.assumingMemoryBound(to: QuantisedInput.self)
    var clamp = Clamp(quantiser)
    var index = 0
    while index + QuantisedBlock.scalarCount <= count {
        let block = quantisedBlock(input + index, &clamp)
        UnsafeMutableRawPointer(target + index).storeBytes(of: block, as: QuantisedBlock.self)
        index += QuantisedBlock.scalarCount
    }
    var isFinite = clamp.isFinite()
    while index < count {
        let scaled = input[index] * quantiser.scale
        if !scaled.isFinite { isFinite = false }
        let clamped = scaled > quantiser.high ? quantiser.high : scaled < quantiser.low ? quantiser.low : scaled
        target[index] = QuantisedInput(truncatingIfNeeded: (clamped + quantiser.roundingBias).bitPattern)
        index += 1
    }
    return isFinite
}

/// Scales and clamps one vector of inputs at a time, and records whether all were finite.
struct Clamp {
    let scale: Vector
    let low: Vector
    let high: Vector
    fileprivate let zeroPoint: Float
    /// See ``Quantiser/roundingBias``.
    fileprivate let bias: Vector
    private var nonFinite = Vector.zero

    @inline(__always) init(_ quantiser: Quantiser) {
        scale = repeated(quantiser.scale)
        low = repeated(quantiser.low)
        high = repeated(quantiser.high)
        zeroPoint = quantiser.zeroPoint
        bias = repeated(quantiser.roundingBias)
    }

    @inline(__always) fileprivate mutating func apply(_ input: UnsafePointer<Float>) -> Vector {
        let scaled = load(input) * scale
        // x − x is 0 where an element is finite, and NaN elsewhere; NaN stays in the sum.
        nonFinite = nonFinite + (scaled - scaled)
        return clamped(scaled)
    }

    @inline(__always) private func clamped(_ scaled: Vector) -> Vector {
        // Minimum, then maximum: one instruction each, unlike a comparison and a selection.
        #if KERNEL_AVX512
        return _mm512_max_ps(low, _mm512_min_ps(high, scaled))
        #elseif KERNEL_AVX2
        return _mm256_max_ps(low, _mm256_min_ps(high, scaled))
        #elseif arch(x86_64)
        return _mm_max_ps(low, _mm_min_ps(high, scaled))
        #else
        let clamped = scaled.replacing(with: high, where: scaled .> high)
        return clamped.replacing(with: low, where: clamped .< low)
        #endif
    }

    /// Quantises the output channels of a panel; whether they are finite is not recorded.
    @inline(__always) func quantise(_ panel: Panel, to target: UnsafeMutableRawPointer) {
        #if KERNEL_AVX512
        let bits = clamped(unsafeBitCast(panel, to: Vector.self) * scale) + bias
        let bytes = _mm512_cvtepi32_epi8(unsafeBitCast(bits, to: SIMD8<Int64>.self))
        target.storeBytes(of: unsafeBitCast(bytes, to: SIMD16<UInt8>.self), as: SIMD16<UInt8>.self)
        #elseif KERNEL_AVX2
        let halves = unsafeBitCast(panel, to: SIMD16<Float>.self)
        let pairs = _mm256_packs_epi32(
            _mm256_cvtps_epi32(clamped(halves.lowHalf * scale)),
            _mm256_cvtps_epi32(clamped(halves.highHalf * scale))
        )
        // The pack instruction works within the 128-bit halves of a register; the permutation restores the order.
        let ordered = SIMD4(pairs[0], pairs[2], pairs[1], pairs[3])
        let bytes = _mm_packs_epi16(ordered.lowHalf, ordered.highHalf)
        let block = unsafeBitCast(bytes, to: SIMD16<UInt8>.self) &+ SIMD16<UInt8>(repeating: UInt8(zeroPoint))
        target.storeBytes(of: block, as: SIMD16<UInt8>.self)
        #elseif KERNEL_DOTPRODUCT
        let quarters = unsafeBitCast(panel, to: SIMD16<Float>.self)
        @inline(__always) func bytes(_ half: SIMD8<Float>) -> SIMD8<UInt8> {
            lowBytes(clamped(half.lowHalf * scale) + bias, clamped(half.highHalf * scale) + bias)
        }
        target.storeBytes(of: bytes(quarters.lowHalf), as: SIMD8<UInt8>.self)
        (target + 8).storeBytes(of: bytes(quarters.highHalf), as: SIMD8<UInt8>.self)
        #else
        let quarters = unsafeBitCast(panel, to: SIMD16<Float>.self)
        @inline(__always) func store(_ quarter: SIMD4<Float>, _ index: Int) {
            let bits = clamped(quarter * scale) + bias
            let block = unsafeBitCast(bits, to: SIMD8<Int16>.self).evenHalf
            (target + 8 * index).storeBytes(of: block, as: SIMD4<Int16>.self)
        }
        store(quarters.lowHalf.lowHalf, 0)
        store(quarters.lowHalf.highHalf, 1)
        store(quarters.highHalf.lowHalf, 2)
        store(quarters.highHalf.highHalf, 3)
        #endif
    }

    /// Not inlined: otherwise the compiler keeps the elements as separate scalars in the loop before.
    @inline(never) fileprivate func isFinite() -> Bool {
        for lane in 0..<Width.vector where nonFinite[lane] != 0 { return false }
        return true
    }
}

// One block of quantised inputs: the low bits of clamped and rounded floats, narrowed to the layout's integers.

#if KERNEL_AVX512
private typealias QuantisedInput = UInt8
private typealias QuantisedBlock = SIMD16<UInt8>

@inline(__always)
private func quantisedBlock(_ input: UnsafePointer<Float>, _ clamp: inout Clamp) -> QuantisedBlock {
    let bits = clamp.apply(input) + clamp.bias
    return unsafeBitCast(_mm512_cvtepi32_epi8(unsafeBitCast(bits, to: SIMD8<Int64>.self)), to: QuantisedBlock.self)
}
#elseif KERNEL_AVX2
private typealias QuantisedInput = UInt8
private typealias QuantisedBlock = SIMD32<UInt8>

@inline(__always)
private func quantisedBlock(_ input: UnsafePointer<Float>, _ clamp: inout Clamp) -> QuantisedBlock {
    @inline(__always) func part(_ index: Int) -> SIMD4<Int64> {
        _mm256_cvtps_epi32(clamp.apply(input + index * Width.vector))
    }
    // The pack instructions work within the 128-bit halves of a register; the permutation restores the order.
    let bytes = _mm256_packs_epi16(_mm256_packs_epi32(part(0), part(1)), _mm256_packs_epi32(part(2), part(3)))
    let order = unsafeBitCast(SIMD8<Int32>(0, 4, 1, 5, 2, 6, 3, 7), to: SIMD4<Int64>.self)
    let ordered = unsafeBitCast(_mm256_permutevar8x32_epi32(bytes, order), to: QuantisedBlock.self)
    return ordered &+ QuantisedBlock(repeating: UInt8(clamp.zeroPoint))
}
#elseif KERNEL_DOTPRODUCT
private typealias QuantisedInput = UInt8
private typealias QuantisedBlock = SIMD8<UInt8>

@inline(__always)
private func quantisedBlock(_ input: UnsafePointer<Float>, _ clamp: inout Clamp) -> QuantisedBlock {
    let low = clamp.apply(input) + clamp.bias
    return lowBytes(low, clamp.apply(input + Width.vector) + clamp.bias)
}

/// The lowest byte of each of eight floats' bits: two instructions, `uzp1`.
@inline(__always)
private func lowBytes(_ low: SIMD4<Float>, _ high: SIMD4<Float>) -> SIMD8<UInt8> {
    let words = SIMD8<UInt16>(
        lowHalf: unsafeBitCast(low, to: SIMD8<UInt16>.self).evenHalf,
        highHalf: unsafeBitCast(high, to: SIMD8<UInt16>.self).evenHalf
    )
    return unsafeBitCast(words, to: SIMD16<UInt8>.self).evenHalf
}
#else
private typealias QuantisedInput = Int16
private typealias QuantisedBlock = SIMD4<Int16>

@inline(__always)
private func quantisedBlock(_ input: UnsafePointer<Float>, _ clamp: inout Clamp) -> QuantisedBlock {
    let bits = clamp.apply(input) + clamp.bias
    return unsafeBitCast(bits, to: SIMD8<Int16>.self).evenHalf
}
#endif
