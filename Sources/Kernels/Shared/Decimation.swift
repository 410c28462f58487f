import KernelInterface

/// See ``KernelSet/Decimate``.
///
/// Four outputs at a time share each load of the taps. Every output is summed in the same order, so that a resampled
/// signal does not depend on its division into chunks, to the last bit.
@Sendable
func decimate(
    _ input: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>,
    count: Int,
    factor: Int,
    taps: UnsafePointer<Float>,
    tapCount: Int
) {
    var done = 0
    while done + 4 <= count {
        let x = input + done * factor
        var (a, b, c, d) = (Vector.zero, Vector.zero, Vector.zero, Vector.zero)
        var tap = 0
        while tap < tapCount {
            let weights = load(taps + tap)
            a = multiplyAdd(a, load(x + tap), weights)
            b = multiplyAdd(b, load(x + tap + factor), weights)
            c = multiplyAdd(c, load(x + tap + 2 * factor), weights)
            d = multiplyAdd(d, load(x + tap + 3 * factor), weights)
            tap += Width.vector
        }
        output[done] = total(a)
        output[done + 1] = total(b)
        output[done + 2] = total(c)
        output[done + 3] = total(d)
        done += 4
    }
    while done < count {
        let x = input + done * factor
        var sum = Vector.zero
        var tap = 0
        while tap < tapCount {
            sum = multiplyAdd(sum, load(x + tap), load(taps + tap))
            tap += Width.vector
        }
        output[done] = total(sum)
        done += 1
    }
}

/// The sum of the lanes, added pairwise by halves.
@inline(__always)
private func total(_ vector: Vector) -> Float {
    #if KERNEL_AVX512
    let eight = vector.lowHalf + vector.highHalf
    let four = eight.lowHalf + eight.highHalf
    #elseif KERNEL_AVX2
    let four = vector.lowHalf + vector.highHalf
    #else
    let four = vector
    #endif
    let two = four.lowHalf + four.highHalf
    return two.x + two.y
}
