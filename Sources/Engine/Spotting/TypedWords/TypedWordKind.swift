import Core
import Inference
public import Phonemes
import System

/// Words that nobody recorded: each fires by itself where the sounds of its name are heard.
struct TypedWordKind: WordKind {
    let words: [TypedWord]
    let hearing: SoundHearing?

    init(_ words: [TypedWord], _ hearing: SoundHearing?) {
        self.words = hearing == nil ? [] : words
        self.hearing = hearing
    }

    var spoken: [WordSounds] {
        words.map { WordSounds($0.name, $0.pronunciations, least: $0.boundary, .typed) }
    }

    var names: [String] { words.map(\.name) }
    var rule: FiringRule { .rising }
    func makeScorer() -> any WordScorer { TypedWordScorer(words, hearing) }
    func goesOn(from former: any WordKind) -> Bool {
        guard let former = former as? TypedWordKind else { return false }
        return words == former.words && hearing === former.hearing
    }

    func threshold(of word: Int) -> Float { TypedWord.threshold }
    func threshold(of word: Int, _ sensitivity: Sensitivity, _ mode: DetectionMode) -> Float? {
        words[word].sensitivities[sensitivity, mode]
    }
}

/// The phoneme network, and what runs it: streams share it, one at a time.
public final class SoundHearing: Sendable {
    /// Seconds of audio of a look.
    public static let seconds = 2.0
    package static let samples = Int(seconds * 16000)

    public let network: PhonemeNetwork
    private let runners = Pool<SoundRunner>()

    public init(_ network: PhonemeNetwork) {
        self.network = network
    }

    /// Provides for calls by one more thread, so that they do not allocate.
    func reserve() { runners.reserve { SoundRunner(network) } }

    func with<Result>(_ body: (SoundRunner) -> Result) -> Result {
        runners.with(make: { SoundRunner(network) }, body)
    }
}

/// One at a time has it, so that its memory is not shared.
package final class SoundRunner: @unchecked Sendable {
    let runner: PhonemeRunner
    package let samples: UnsafeMutableBufferPointer<Float>
    /// Of a frame.
    let losses: UnsafeMutablePointer<Float>

    package init(_ network: PhonemeNetwork) {
        runner = PhonemeRunner(network, samples: SoundHearing.samples)
        samples = .allocate(capacity: SoundHearing.samples)
        samples.initialize(repeating: 0)
        losses = .allocate(capacity: network.symbols.count)
        losses.initialize(repeating: 0, count: network.symbols.count)
    }

    deinit {
        samples.deallocate()
        losses.deallocate()
    }

    /// Looks at ``samples``; the best score of alignments, which begin again.
    package func best(_ alignments: inout [PhonemeAlignment]) -> Float {
        for index in alignments.indices { alignments[index].reset() }
        var best = -Float.infinity
        look { _, _, losses in
            for index in alignments.indices { best = max(best, alignments[index].add(losses)) }
        }
        return best
    }

    /// Looks at ``samples``, which are made louder where they are quiet; calls the body with the losses of each frame.
    package func look(_ body: (_ frame: Int, _ frames: Int, UnsafePointer<Float>) -> Void) {
        raiseLevel()
        guard runner.run(UnsafeBufferPointer(samples)) else { return }
        let symbols = runner.network.symbols.count
        for frame in 0..<runner.frames {
            let row = runner.answer + frame * symbols
            var highest = row[0]
            for symbol in 1..<symbols where row[symbol] > highest { highest = row[symbol] }
            for symbol in 0..<symbols { losses[symbol] = row[symbol] - highest }
            body(frame, runner.frames, losses)
        }
    }

    /// The network learnt levels of −26 dB of full scale and more: it does not hear a quiet microphone. Peaks below −20 dB are raised to it, by 30 dB at
    /// most; by 40, it finds no more.
    private static let quietPeak: Float = 0.1
    private static let mostGain: Float = 31.6

    /// Makes quiet ``samples`` louder; louder ones stay.
    private func raiseLevel() {
        var peak: Float = 0
        for sample in samples { peak = max(peak, abs(sample)) }
        guard peak > 0, peak < Self.quietPeak else { return }
        let gain = min(Self.quietPeak / peak, Self.mostGain)
        for index in samples.indices { samples[index] *= gain }
    }
}
