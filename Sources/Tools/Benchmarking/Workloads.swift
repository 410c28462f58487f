import Audio
import Core
import Inference
import KernelInterface
import Spotting
import WakeWords

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

/// The second look at a word of the user's own with five takes.
final class WordLookWork: Workload {
    private let looks: WordLooks
    private let word: ProposedWord
    private let sound: [Float]

    /// - Returns: nil where the speech embedding did not come with the program.
    init?(_ model: Model, on sound: [Float]) {
        // A word of 0.7 s, whose frames are of no sound.
        let frames: [[Float]] = (0..<10).map { row in
            (0..<SpeechEmbedding.count).map { column in Float((column * 7 + row * 13) % 29) - 14 }
        }
        guard let path = ModelFolder.shippedSpeechEmbedding,
            let embedding = try? SpeechEmbedding(path: path, kernels: model.kernels),
            let word = TaughtWord(
                name: "word",
                threshold: 0.8,
                templates: [[Float](repeating: 1, count: max(1, model.embeddingCount))],
                templateSpacing: 0,
                boundary: 0.6,
                speech: SpeechTakes([[[Float]]](repeating: frames, count: 5), proposal: 0.3, boundary: 0.5)
            )
        else { return nil }
        let vocabulary = Vocabulary(model, taught: [word], speech: embedding)
        guard vocabulary.hasSecondLooks, let label = vocabulary.labels.firstIndex(of: "word") else {
            return nil
        }
        looks = WordLooks(vocabulary)
        self.word = ProposedWord(label: label, score: 0.5, middle: 0, end: 0, hops: 3)
        self.sound = sound
    }

    func run() {
        let sound = sound
        _ = looks.look(word, []) { first, samples in
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
