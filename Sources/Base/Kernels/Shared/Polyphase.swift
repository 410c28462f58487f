import KernelInterface

/// See ``KernelSet/Resample``.
///
/// Four outputs at a time. Outputs `phases` apart have the same taps, and share each load of them while enough outputs are left.
/// Every output is summed in the same order, so that a resampled signal does not depend on its division into chunks, to the last bit.
@Sendable
func resample(
    _ input: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>,
    count: Int,
    phase: Int,
    shape: PolyphaseShape,
    taps: UnsafePointer<Float>
) {
    var next = PolyphasePlace(input: input, phase: phase, taps: taps, shape: shape)
    let tapCount = shape.tapCount
    let group = 4 * shape.phases
    var output = output
    var left = count
    while left >= group {
        for index in 0..<shape.phases {
            let (x, weights) = (next.input, next.weights)
            let step = shape.step
            let sums = fourSums(
                (x, x + step, x + 2 * step, x + 3 * step),
                (weights, weights, weights, weights),
                tapCount
            )
            output[index] = sums.x
            output[index + shape.phases] = sums.y
            output[index + 2 * shape.phases] = sums.z
            output[index + 3 * shape.phases] = sums.w
            next.advance()
        }
        next.input += 3 * shape.step
        output += group
        left -= group
    }
    while left >= 4 {
        let a = next
        next.advance()
        let b = next
        next.advance()
        let c = next
        next.advance()
        let d = next
        next.advance()
        let sums = fourSums(
            (a.input, b.input, c.input, d.input),
            (a.weights, b.weights, c.weights, d.weights),
            tapCount
        )
        UnsafeMutableRawPointer(output).storeBytes(of: sums, as: SIMD4<Float>.self)
        output += 4
        left -= 4
    }
    while left > 0 {
        var sum = Vector.zero
        var tap = 0
        while tap < tapCount {
            sum = multiplyAdd(sum, load(next.input + tap), load(next.weights + tap))
            tap += Width.vector
        }
        output[0] = total(sum)
        next.advance()
        output += 1
        left -= 1
    }
}

/// The first input of an output, and the output's phase.
private struct PolyphasePlace {
    var input: UnsafePointer<Float>
    private var phase: Int
    private let taps: UnsafePointer<Float>
    private let tapCount: Int
    private let phases: Int
    private let wholeStep: Int
    private let phaseStep: Int

    @inline(__always)
    init(input: UnsafePointer<Float>, phase: Int, taps: UnsafePointer<Float>, shape: PolyphaseShape) {
        self.input = input
        self.phase = phase
        self.taps = taps
        tapCount = shape.tapCount
        phases = shape.phases
        (wholeStep, phaseStep) = shape.step.quotientAndRemainder(dividingBy: shape.phases)
    }

    @inline(__always) var weights: UnsafePointer<Float> { taps + phase * tapCount }

    /// Moves to the next output.
    @inline(__always) mutating func advance() {
        input += wholeStep
        phase += phaseStep
        if phase >= phases {
            phase -= phases
            input += 1
        }
    }
}

private typealias FourPointers = (
    UnsafePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>
)

@inline(__always)
private func fourSums(_ x: FourPointers, _ weights: FourPointers, _ tapCount: Int) -> SIMD4<Float> {
    var (a, b, c, d) = (Vector.zero, Vector.zero, Vector.zero, Vector.zero)
    var tap = 0
    while tap < tapCount {
        a = multiplyAdd(a, load(x.0 + tap), load(weights.0 + tap))
        b = multiplyAdd(b, load(x.1 + tap), load(weights.1 + tap))
        c = multiplyAdd(c, load(x.2 + tap), load(weights.2 + tap))
        d = multiplyAdd(d, load(x.3 + tap), load(weights.3 + tap))
        tap += Width.vector
    }
    return SIMD4(total(a), total(b), total(c), total(d))
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
