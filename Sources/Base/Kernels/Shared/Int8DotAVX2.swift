#if KERNEL_AVX2
import KernelInterface
import _Builtin_intrinsics.intel

/// AVX2's dot product of 16 unsigned 8-bit inputs with 16 output channels: the products are added in 16 bits, eight per lane,
/// then in 32 bits.
struct Int8DotAVX2 {
    static var layout: QuantisedLayout { .uint8x4 }
    @inline(__always) static var lanesPerRow: Int { 4 }
    @inline(__always) static var columns: Int { 2 }

    /// One vector for every four inputs: the inputs, repeated in every lane, or the weights of eight channels.
    typealias Factor = (SIMD4<Int64>, SIMD4<Int64>, SIMD4<Int64>, SIMD4<Int64>)

    /// Weights of the first eight channels, then of the other eight.
    typealias Weights = (Factor, Factor)

    /// Sums of the first eight channels, then of the other eight.
    private var sums = (SIMD4<Int64>.zero, SIMD4<Int64>.zero)

    @inline(__always) var total: Int32Panel {
        Int32Panel(
            lowHalf: unsafeBitCast(sums.0, to: SIMD8<Int32>.self),
            highHalf: unsafeBitCast(sums.1, to: SIMD8<Int32>.self)
        )
    }

    @inline(__always) init() {}

    @inline(__always) static func factor(_ lanes: UnsafePointer<Int32>) -> Factor {
        (broadcast(lanes[0]), broadcast(lanes[1]), broadcast(lanes[2]), broadcast(lanes[3]))
    }

    @inline(__always) static func weights(_ row: UnsafeRawPointer) -> Weights {
        let halves = row.assumingMemoryBound(to: SIMD4<Int64>.self)
        return ((halves[0], halves[2], halves[4], halves[6]), (halves[1], halves[3], halves[5], halves[7]))
    }

    @inline(__always) mutating func add(_ factor: Factor, _ weights: Weights) {
        sums.0 = _mm256_add_epi32(sums.0, products(factor, weights.0))
        sums.1 = _mm256_add_epi32(sums.1, products(factor, weights.1))
    }

    @inline(__always)
    private func products(_ factor: Factor, _ weights: Factor) -> SIMD4<Int64> {
        let first = _mm256_add_epi16(
            _mm256_maddubs_epi16(factor.0, weights.0),
            _mm256_maddubs_epi16(factor.1, weights.1)
        )
        let second = _mm256_add_epi16(
            _mm256_maddubs_epi16(factor.2, weights.2),
            _mm256_maddubs_epi16(factor.3, weights.3)
        )
        return _mm256_madd_epi16(_mm256_add_epi16(first, second), _mm256_set1_epi16(1))
    }

    @inline(__always) private static func broadcast(_ lane: Int32) -> SIMD4<Int64> { _mm256_set1_epi32(lane) }
}
#endif
