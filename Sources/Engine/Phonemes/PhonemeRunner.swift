import Glibc
import Inference
import KernelInterface

/// Computes which sounds a piece of audio has, by a ``PhonemeNetwork``. One for each thread.
///
/// `init` allocates all memory; `run` allocates nothing.
public final class PhonemeRunner {
    public let network: PhonemeNetwork
    /// The longest piece of audio.
    public let mostSamples: Int
    /// Frames of the newest answer.
    public private(set) var frames = 0

    private let memory: Arena
    private let front: PhonemeFrontEnd.Scratch
    private let attention: PhonemeAttention
    /// A column of zeros before and after the features, as the first layer needs them.
    private let features: Arena.Region
    /// What goes from block to block, `[frames × width]`.
    private let state: Arena.Region
    private let normed: Arena.Region
    private let inner: Arena.Region
    /// With zeros before and after it, for the depth-wise convolution.
    private let gated: Arena.Region
    private let logits: Arena.Region
    private let probabilities: Arena.Region

    private static let margin = PhonemeShape.taps / 2

    /// - Parameter mostSamples: at 16 kHz.
    public init(_ network: PhonemeNetwork, mostSamples: Int) {
        self.network = network
        self.mostSamples = max(mostSamples, PhonemeFrontEnd.frameSamples)
        let frames = PhonemeFrontEnd.frames(self.mostSamples)
        let (answers, width) = ((frames + 1) / 2, PhonemeShape.width)
        var layout = Arena.Layout()
        front = PhonemeFrontEnd.Scratch(samples: self.mostSamples, &layout)
        features = layout.reserve((frames + 2) * PhonemeShape.bands)
        state = layout.reserve(answers * width)
        normed = layout.reserve(answers * width)
        inner = layout.reserve(answers * PhonemeShape.inner)
        gated = layout.reserve((answers + 2 * Self.margin) * width)
        attention = PhonemeAttention(frames: answers, &layout)
        logits = layout.reserve(answers * network.symbols.count)
        probabilities = layout.reserve(network.symbols.count)
        memory = Arena(layout)
    }

    /// Bytes of memory.
    public var memoryBytes: Int { memory.count * MemoryLayout<Float>.stride }

    /// The newest answer: log-probabilities, `[frames × symbols]`.
    public var answer: UnsafePointer<Float> { UnsafePointer(memory[logits]) }

    /// Computes ``answer``.
    ///
    /// - Parameter samples: at 16 kHz, 400 to ``mostSamples``; others give no frames. All must be finite.
    public func run(_ samples: UnsafeBufferPointer<Float>) {
        frames = 0
        guard (PhonemeFrontEnd.frameSamples...mostSamples).contains(samples.count) else { return }
        let bands = PhonemeFrontEnd.frames(samples.count)
        frames = (bands + 1) / 2
        let first = memory[features] + PhonemeShape.bands
        network.frontEnd.run(samples, to: first, front, memory, weights: network.memory, network.kernels)
        (first + bands * PhonemeShape.bands).update(repeating: 0, count: PhonemeShape.bands)
        apply(network.stem, memory[features], memory[state])
        let count = frames * PhonemeShape.width
        for index in 0..<count {
            let value = memory[state][index]
            // GELU.
            memory[state][index] = 0.5 * value * (1 + erff(value * Float(0.5).squareRoot()))
        }
        for index in network.blocks.indices { run(network.blocks[index]) }
        apply(network.output, memory[state], memory[logits])
        for frame in 0..<frames { normalise(memory[logits] + frame * network.symbols.count) }
    }

    /// Runs a layer over all frames.
    private func apply(
        _ layer: PhonemeLayer,
        _ input: UnsafePointer<Float>,
        _ output: UnsafeMutablePointer<Float>,
        adding residual: UnsafePointer<Float>? = nil
    ) {
        let columns = layer.shape.adjacentColumns(frames)
        network.kernels.convolve(
            input,
            output,
            columns,
            network.memory[layer.weights],
            layer.shape,
            residual,
            false
        )
    }

    private func run(_ block: PhonemeBlock) {
        let (width, state, normed) = (PhonemeShape.width, memory[state], memory[normed])
        feedForward(block.before)
        standardise(state, to: normed, frames: frames)
        apply(block.attention, normed, memory[inner])
        attention.run(memory[inner], to: normed, frames: frames, memory, network.kernels)
        apply(block.attended, normed, state, adding: state)

        standardise(state, to: normed, frames: frames)
        apply(block.gated, normed, memory[inner])
        let padded = memory[gated]
        padded.update(repeating: 0, count: Self.margin * width)
        gate(memory[inner], to: padded + Self.margin * width)
        (padded + (Self.margin + frames) * width).update(repeating: 0, count: Self.margin * width)
        apply(block.depthwise, padded, normed)
        network.kernels.silu(normed, frames * width)
        apply(block.convolved, normed, state, adding: state)

        feedForward(block.after)
        standardise(state, to: state, frames: frames)
        let scale = network.memory[block.norm]
        for frame in 0..<frames {
            let row = state + frame * width
            for index in 0..<width { row[index] = row[index] * scale[index] + scale[width + index] }
        }
    }

    private func feedForward(_ layers: PhonemeBlock.Forward) {
        standardise(memory[state], to: memory[normed], frames: frames)
        apply(layers.inner, memory[normed], memory[inner])
        network.kernels.silu(memory[inner], frames * PhonemeShape.inner)
        apply(layers.outer, memory[inner], memory[state], adding: memory[state])
    }

    /// The first half of each row, times the sigmoid of the second, which is `silu(x) / x`.
    private func gate(_ rows: UnsafeMutablePointer<Float>, to output: UnsafeMutablePointer<Float>) {
        let width = PhonemeShape.width
        let normed = memory[normed]
        for frame in 0..<frames {
            (normed + frame * width).update(from: rows + (2 * frame + 1) * width, count: width)
        }
        network.kernels.silu(normed, frames * width)
        for frame in 0..<frames {
            let (row, silu, target) = (rows + 2 * frame * width, normed + frame * width, output + frame * width)
            for index in stride(from: 0, to: width, by: 8) {
                let gate = lanes(row, width + index)
                let share = (lanes(silu, index) / gate).replacing(with: 0.5, where: gate .== 0)
                UnsafeMutableRawPointer(target + index).storeBytes(of: lanes(row, index) * share, as: Lanes.self)
            }
        }
    }

    /// Turns a row of logits into log-probabilities.
    private func normalise(_ row: UnsafeMutablePointer<Float>) {
        let count = network.symbols.count
        var (best, probabilities) = (0, memory[probabilities])
        for index in 0..<count where row[index] > row[best] { best = index }
        guard network.kernels.softmax(row, probabilities, count, 1) else { return }
        // The probability of the likeliest is exp(its logit) / sum.
        let offset = logf(probabilities[best]) - row[best]
        for index in 0..<count { row[index] += offset }
    }
}

private typealias Lanes = SIMD8<Float>

@inline(__always)
private func lanes(_ row: UnsafePointer<Float>, _ index: Int) -> Lanes {
    UnsafeRawPointer(row + index).loadUnaligned(as: Lanes.self)
}

/// Gives each row the mean 0 and the variance 1; the output may be the input.
private func standardise(_ rows: UnsafePointer<Float>, to output: UnsafeMutablePointer<Float>, frames: Int) {
    let width = PhonemeShape.width
    for frame in 0..<frames {
        let (row, target) = (rows + frame * width, output + frame * width)
        var sum = Lanes.zero
        for index in stride(from: 0, to: width, by: 8) { sum += lanes(row, index) }
        let mean = sum.sum() / Float(width)
        var squares = Lanes.zero
        for index in stride(from: 0, to: width, by: 8) {
            let difference = lanes(row, index) - mean
            squares += difference * difference
        }
        let scale = 1 / (squares.sum() / Float(width) + 1e-5).squareRoot()
        for index in stride(from: 0, to: width, by: 8) {
            UnsafeMutableRawPointer(target + index).storeBytes(of: (lanes(row, index) - mean) * scale, as: Lanes.self)
        }
    }
}
