#if KERNEL_AVX2
import KernelInterface
import _Builtin_intrinsics.intel

/// Sixteen inputs of 8 bits at once: their products are added in 16 bits, in pairs of lanes, then in 32.
struct WholeProducts {
    static var layout: QuantisedLayout { .quads }
    @inline(__always) static var inputCount: Int { 4 }
    @inline(__always) static var columns: Int { 2 }

    /// A vector for each four of the inputs.
    typealias Factor = (SIMD4<Int64>, SIMD4<Int64>, SIMD4<Int64>, SIMD4<Int64>)

    /// Of eight channels, then of the other eight.
    typealias Weights = (Factor, Factor)

    private(set) var total = WholePanel.zero

    @inline(__always) init() {}

    @inline(__always) static func factor(_ quads: UnsafePointer<Int32>) -> Factor {
        (broadcast(quads[0]), broadcast(quads[1]), broadcast(quads[2]), broadcast(quads[3]))
    }

    @inline(__always) static func weights(_ row: UnsafeRawPointer) -> Weights {
        let halves = row.assumingMemoryBound(to: SIMD4<Int64>.self)
        return ((halves[0], halves[2], halves[4], halves[6]), (halves[1], halves[3], halves[5], halves[7]))
    }

    @inline(__always) mutating func add(_ factor: Factor, _ weights: Weights) {
        total = WholePanel(
            lowHalf: total.lowHalf &+ products(factor, weights.0),
            highHalf: total.highHalf &+ products(factor, weights.1)
        )
    }

    @inline(__always)
    private func products(_ factor: Factor, _ weights: Factor) -> SIMD8<Int32> {
        let near = _mm256_add_epi16(
            _mm256_maddubs_epi16(factor.0, weights.0),
            _mm256_maddubs_epi16(factor.1, weights.1)
        )
        let far = _mm256_add_epi16(
            _mm256_maddubs_epi16(factor.2, weights.2),
            _mm256_maddubs_epi16(factor.3, weights.3)
        )
        let sums = _mm256_madd_epi16(_mm256_add_epi16(near, far), _mm256_set1_epi16(1))
        return unsafeBitCast(sums, to: SIMD8<Int32>.self)
    }

    @inline(__always) private static func broadcast(_ quad: Int32) -> SIMD4<Int64> {
        unsafeBitCast(SIMD8<Int32>(repeating: quad), to: SIMD4<Int64>.self)
    }
}
#endif
