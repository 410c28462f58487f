import KernelInterface

/// See ``KernelSet/FMAThroughput``.
///
/// Twelve independent sums hide the latency of an FMA at two per cycle. With both factors they fit the 16 registers of
/// SSE2 and AVX2.
@Sendable
func fmaThroughput(rounds: Int, to output: UnsafeMutablePointer<Float>) -> Int {
    let left = repeated(0.5)
    let right = repeated(0.25)
    var (a, b, c) = (left, left + 1, left + 2)
    var (d, e, f) = (left + 3, left + 4, left + 5)
    var (g, h, i) = (left + 6, left + 7, left + 8)
    var (j, k, l) = (left + 9, left + 10, left + 11)
    for _ in 0..<rounds {
        a = advance(a, left, right)
        b = advance(b, left, right)
        c = advance(c, left, right)
        d = advance(d, left, right)
        e = advance(e, left, right)
        f = advance(f, left, right)
        g = advance(g, left, right)
        h = advance(h, left, right)
        i = advance(i, left, right)
        j = advance(j, left, right)
        k = advance(k, left, right)
        l = advance(l, left, right)
    }
    store(((a + b) + (c + d)) + ((e + f) + (g + h)) + ((i + j) + (k + l)), to: output)
    return rounds * 12 * Width.vector
}

@inline(__always)
private func advance(_ sum: Vector, _ left: Vector, _ right: Vector) -> Vector {
    #if KERNEL_AVX2 || KERNEL_AVX512 || arch(arm64)
    return multiplyAdd(sum, left, right)
    #else
    // Without FMA the compiler would move the product of two constants out of the loop.
    return multiplyAdd(right, sum, left)
    #endif
}
