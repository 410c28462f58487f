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
    let target = output.assumingMemoryBound(to: WholeInput.self)
    var cutter = Cutter(quantiser)
    var index = 0
    while index + WholeBlock.scalarCount <= count {
        let block = wholeBlock(input + index, &cutter)
        UnsafeMutableRawPointer(target + index).storeBytes(of: block, as: WholeBlock.self)
        index += WholeBlock.scalarCount
    }
    var isFinite = cutter.isFinite()
    while index < count {
        let scaled = input[index] * quantiser.scale
        if !scaled.isFinite { isFinite = false }
        let cut = scaled > quantiser.high ? quantiser.high : scaled < quantiser.low ? quantiser.low : scaled
        target[index] = WholeInput(truncatingIfNeeded: (cut + quantiser.rounding).bitPattern)
        index += 1
    }
    return isFinite
}

/// Scales and cuts a vector of inputs at a time, and remembers whether all were finite.
private struct Cutter {
    let scale: Vector
    let low: Vector
    let high: Vector
    let offset: Float
    private var broken = Vector.zero

    @inline(__always) init(_ quantiser: Quantiser) {
        scale = Vector(repeating: quantiser.scale)
        low = Vector(repeating: quantiser.low)
        high = Vector(repeating: quantiser.high)
        offset = quantiser.offset
    }

    @inline(__always) mutating func cut(_ input: UnsafePointer<Float>) -> Vector {
        let scaled = load(input) * scale
        // NaN where an element is NaN or infinite.
        broken = broken + (scaled - scaled)
        // The smaller, then the larger: in one instruction each, which a selection by comparison is not.
        #if KERNEL_AVX512
        return _mm512_max_ps(low, _mm512_min_ps(high, scaled))
        #elseif KERNEL_AVX2
        return _mm256_max_ps(low, _mm256_min_ps(high, scaled))
        #elseif arch(x86_64)
        return _mm_max_ps(low, _mm_min_ps(high, scaled))
        #else
        let cut = scaled.replacing(with: high, where: scaled .> high)
        return cut.replacing(with: low, where: cut .< low)
        #endif
    }

    /// Apart, else the compiler carries the elements one by one through the loop before.
    @inline(never) func isFinite() -> Bool {
        for lane in 0..<Width.vector where broken[lane] != 0 { return false }
        return true
    }
}

// The low bits of some vectors of inputs, one number after the other.

#if KERNEL_AVX512
private typealias WholeInput = UInt8
private typealias WholeBlock = SIMD16<UInt8>

@inline(__always)
private func wholeBlock(_ input: UnsafePointer<Float>, _ cutter: inout Cutter) -> WholeBlock {
    let bits = cutter.cut(input) + (wholeNumberRounding + cutter.offset)
    return unsafeBitCast(_mm512_cvtepi32_epi8(unsafeBitCast(bits, to: SIMD8<Int64>.self)), to: WholeBlock.self)
}
#elseif KERNEL_AVX2
private typealias WholeInput = UInt8
private typealias WholeBlock = SIMD32<UInt8>

@inline(__always)
private func wholeBlock(_ input: UnsafePointer<Float>, _ cutter: inout Cutter) -> WholeBlock {
    @inline(__always) func part(_ index: Int) -> SIMD4<Int64> {
        _mm256_cvtps_epi32(cutter.cut(input + index * Width.vector))
    }
    // Packing keeps to the halves of a register.
    let bytes = _mm256_packs_epi16(_mm256_packs_epi32(part(0), part(1)), _mm256_packs_epi32(part(2), part(3)))
    let order = unsafeBitCast(SIMD8<Int32>(0, 4, 1, 5, 2, 6, 3, 7), to: SIMD4<Int64>.self)
    let moved = unsafeBitCast(_mm256_permutevar8x32_epi32(bytes, order), to: WholeBlock.self)
    return moved &+ WholeBlock(repeating: UInt8(cutter.offset))
}
#else
private typealias WholeInput = Int16
private typealias WholeBlock = SIMD4<Int16>

@inline(__always)
private func wholeBlock(_ input: UnsafePointer<Float>, _ cutter: inout Cutter) -> WholeBlock {
    let bits = cutter.cut(input) + (wholeNumberRounding + cutter.offset)
    return unsafeBitCast(bits, to: SIMD8<Int16>.self).evenHalf
}
#endif
