import Audio
import Core
import Inference
import KernelInterface

/// Noise whose amplitude rises and falls five times a second, the same in every run.
///
/// - Parameters:
///   - count: number of samples.
///   - rate: sample rate in Hz.
func benchSound(_ count: Int, rate: Int) -> [Float] {
    var state: UInt32 = 1
    return (0..<count).map { index in
        state = state &* 1_664_525 &+ 1_013_904_223
        let phase = Float(index % (rate / 5)) / Float(rate / 5)
        return (Float(state >> 8) / 0x1p23 - 1) * 0.2 * (1 - abs(2 * phase - 1))
    }
}

/// Resamples 100 ms of audio to 16 kHz, as the capture thread does.
final class ResampleWork: Workload {
    private var resampler: Resampler
    private let input: [Float]
    private var output = [Float](repeating: 0, count: 2 * AudioFormat.hopSamples)

    init(rate: Int) throws {
        resampler = try Resampler(from: rate)
        input = benchSound(rate / 10, rate: rate)
    }

    func run() throws {
        let input = input
        var consumed = 0
        while consumed < input.count {
            var room = output.mutableSpan
            let rest = input.span.extracting(consumed..<input.count)
            let progress = try resampler.process(rest, into: &room, endOfInput: false)
            guard progress.consumed > 0 else {
                throw BenchmarkError("the resampler stopped in the middle of its input")
            }
            consumed += progress.consumed
        }
    }
}

/// Work on a window of sound by a part of the engine.
final class WindowWork<Part: ~Copyable>: Workload {
    private var part: Part
    private let input: [Float]
    private let body: (inout Part, Span<Float>) -> Void

    /// - Parameters:
    ///   - input: the samples or the columns to work on.
    ///   - body: the work.
    init(_ part: consuming Part, on input: [Float], _ body: @escaping (inout Part, Span<Float>) -> Void) {
        self.part = part
        self.input = input
        self.body = body
    }

    func run() {
        let input = input
        body(&part, input.span)
    }
}

/// One look of all confirming networks at a sound.
final class LookWork: Workload {
    private var confirmer: Confirmer
    private let posteriors: [Float]
    private let sound: [Float]

    init(_ confirmation: ConfirmingNetworks, of model: Model, on sound: [Float]) {
        confirmer = Confirmer(confirmation, of: model)
        posteriors = [Float](repeating: 1 / Float(model.labels.count), count: model.labels.count)
        self.sound = sound
    }

    func run() {
        let sound = sound
        confirmer.look(posteriors, middle: sound.count / 2) { first, samples in
            for index in samples.indices { samples[index] = sound[abs(first + index) % sound.count] }
        }
    }
}

/// Float multiply-adds in registers: the processor's peak rate.
final class PeakWork: Workload {
    private static let rounds = 4096
    private let peak: KernelSet.FMAThroughput
    private var result = [Float](repeating: 0, count: 16)
    /// Multiply-adds of one run.
    let multiplyAdds: Int

    init(_ peak: @escaping KernelSet.FMAThroughput) {
        self.peak = peak
        multiplyAdds = peak(Self.rounds, &result)
    }

    func run() { _ = peak(Self.rounds, &result) }
}
