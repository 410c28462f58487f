import Glibc
import Inference
import KernelInterface

/// Computes which sounds a piece of audio has, by a ``PhonemeNetwork``. One for each thread.
///
/// `init` allocates all memory; `run` allocates nothing.
public final class PhonemeRunner {
    public let network: PhonemeNetwork
    /// Samples of each piece of audio, at 16 kHz.
    public let samples: Int
    /// Frames of an answer.
    public let frames: Int

    private let memory: Arena
    private let front: PhonemeFrontEnd.Scratch
    private let plan: ExecutionPlan?
    private let state: Arena.Region
    private let probabilities: Arena.Region

    /// - Parameter samples: at 16 kHz; fewer than 400 have no frames.
    public init(_ network: PhonemeNetwork, samples: Int) {
        (self.network, self.samples) = (network, samples)
        let frames = PhonemeFrontEnd.frames(max(0, samples))
        plan = samples < PhonemeFrontEnd.frameSamples ? nil : network.plan(frames: frames)
        self.frames = plan == nil ? 0 : (frames + 1) / 2
        var layout = Arena.Layout()
        front = PhonemeFrontEnd.Scratch(samples: max(0, samples), &layout)
        state = layout.reserve(plan?.count ?? 0)
        probabilities = layout.reserve(network.symbols.count)
        memory = Arena(layout)
    }

    /// The newest answer: log-probabilities, `[frames × symbols]`.
    public var answer: UnsafePointer<Float> { UnsafePointer(logits) }
    private var logits: UnsafeMutablePointer<Float> { memory[state] + (plan?.output ?? 0) }

    /// Computes ``answer``.
    ///
    /// - Parameter audio: ``samples`` of them, all finite; with another number, nothing is computed.
    /// - Returns: whether there is an answer.
    @discardableResult
    public func run(_ audio: UnsafeBufferPointer<Float>) -> Bool {
        guard let plan, audio.count == samples else { return false }
        network.frontEnd.run(audio, to: memory[state] + plan.inputOffset, front, memory, network.kernels)
        network.run(plan, memory[state])
        for frame in 0..<frames { normalise(logits + frame * network.symbols.count) }
        return true
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
