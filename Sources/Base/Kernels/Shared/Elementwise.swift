import KernelInterface

/// See ``KernelSet/Add``.
@Sendable
func add(
    _ left: UnsafePointer<Float>,
    _ right: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>,
    count: Int,
    relu: Bool
) {
    var index = 0
    while index + Width.vector <= count {
        let sum = load(left + index) + load(right + index)
        store(relu ? rectified(sum) : sum, to: output + index)
        index += Width.vector
    }
    while index < count {
        let sum = left[index] + right[index]
        output[index] = relu && sum < 0 ? 0 : sum
        index += 1
    }
}

/// See ``KernelSet/Mean``.
@Sendable
func mean(
    _ input: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>,
    columns: Int,
    width: Int,
    channels: Int
) {
    let scale = 1 / Float(width)
    for column in 0..<columns {
        let source = input + column * channels
        let target = output + column * channels
        var channel = 0
        while channel + Width.vector <= channels {
            var sum = load(source + channel)
            for offset in 1..<max(width, 1) { sum = sum + load(source + offset * channels + channel) }
            store(sum * scale, to: target + channel)
            channel += Width.vector
        }
        while channel < channels {
            var sum = source[channel]
            for offset in 1..<max(width, 1) { sum = sum + source[offset * channels + channel] }
            target[channel] = sum * scale
            channel += 1
        }
    }
}

/// See ``KernelSet/SiLU``.
@Sendable
func silu(_ values: UnsafeMutablePointer<Float>, count: Int) {
    var index = 0
    while index + Width.frames <= count {
        let place = UnsafeMutableRawPointer(values + index)
        place.storeBytes(of: silu(place.loadUnaligned(as: FrameVector.self)), as: FrameVector.self)
        index += Width.frames
    }
    var lanes = FrameVector.zero
    for lane in 0..<count - index { lanes[lane] = values[index + lane] }
    lanes = silu(lanes)
    for lane in 0..<count - index { values[index + lane] = lanes[lane] }
}

/// `x · s` with `s = 1 / (1 + exp(−x))`; the exponential is that of a number ≤ 0, so that nothing overflows.
@inline(__always)
private func silu(_ x: FrameVector) -> FrameVector {
    let power = exponential(x.replacing(with: 0 - x, where: x .> 0))
    let sigmoid = FrameVector(repeating: 1).replacing(with: power, where: x .< 0) / (power + 1)
    return x * sigmoid
}

/// See ``KernelSet/Softmax``.
@Sendable
func softmax(
    _ logits: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>,
    count: Int,
    scale: Float
) -> Bool {
    if count >= manyLogits { return softmaxOfMany(logits, to: output, count: count, scale: scale) }
    var largest = -Float.infinity
    for index in 0..<count {
        guard logits[index].isFinite else { return false }
        if logits[index] > largest { largest = logits[index] }
    }
    // There are only tens of logits: filling lanes one by one is cheaper than a scalar loop for the remainder.
    var sum: Float = 0
    var index = 0
    while index < count {
        var lanes = FrameVector.zero
        let filled = min(Width.frames, count - index)
        for lane in 0..<filled { lanes[lane] = (logits[index + lane] - largest) * scale }
        let powers = exponential(lanes)
        for lane in 0..<filled {
            output[index + lane] = powers[lane]
            sum += powers[lane]
        }
        index += filled
    }
    for index in 0..<count { output[index] /= sum }
    return true
}

/// So many logits are worth vectors: attention over a hundred frames, not the labels of a model.
private let manyLogits = 64

/// The same for at least a vector of logits; sums are in the order of lanes.
private func softmaxOfMany(
    _ logits: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>,
    count: Int,
    scale: Float
) -> Bool {
    let whole = count / Width.frames * Width.frames
    @inline(__always) func frames(_ index: Int) -> FrameVector {
        UnsafeRawPointer(logits + index).loadUnaligned(as: FrameVector.self)
    }
    var highest = frames(0)
    // NaN where a logit is not finite, else 0.
    var faults = FrameVector.zero
    for index in stride(from: 0, to: whole, by: Width.frames) {
        let lanes = frames(index)
        highest = highest.replacing(with: lanes, where: lanes .> highest)
        faults = faults + (lanes - lanes)
    }
    var (largest, fault) = (highest[0], faults[0])
    for lane in 1..<Width.frames {
        if highest[lane] > largest { largest = highest[lane] }
        fault += faults[lane]
    }
    for index in whole..<count {
        if logits[index] > largest { largest = logits[index] }
        fault += logits[index] - logits[index]
    }
    guard fault == 0 else { return false }
    var sums = FrameVector.zero
    for index in stride(from: 0, to: whole, by: Width.frames) {
        let powers = exponential((frames(index) - largest) * scale)
        UnsafeMutableRawPointer(output + index).storeBytes(of: powers, as: FrameVector.self)
        sums = sums + powers
    }
    var sum: Float = 0
    for lane in 0..<Width.frames { sum += sums[lane] }
    var rest = FrameVector.zero
    for index in whole..<count { rest[index - whole] = (logits[index] - largest) * scale }
    let powers = exponential(rest)
    for index in whole..<count {
        output[index] = powers[index - whole]
        sum += powers[index - whole]
    }
    let factor = 1 / sum
    for index in stride(from: 0, to: whole, by: Width.frames) {
        let place = UnsafeMutableRawPointer(output + index)
        place.storeBytes(of: place.loadUnaligned(as: FrameVector.self) * factor, as: FrameVector.self)
    }
    for index in whole..<count { output[index] *= factor }
    return true
}
