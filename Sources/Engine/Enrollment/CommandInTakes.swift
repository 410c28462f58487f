private import Core
import Inference
import Spotting

/// Finds the words of the model in takes of another word, as a detector in the mode `command` would.
struct CommandInTakes {
    /// Share of the takes, 0…1, from which they are takes of a word that the model knows.
    static let leastShare = 2.0 / 3
    /// Share of a take's speech, 0…1, that the word takes up. Of "side left", the word is a third.
    private static let leastCoverage = 0.7

    private let settings: DetectorSettings

    init(_ model: Model) {
        var gate = GateSettings()
        gate.mode = .command
        settings = DetectorSettings(Vocabulary(model), gate: gate)
    }

    /// The word of the model that an utterance is; nil if it is none, or more than one word.
    func word(of utterance: Utterance) -> String? {
        var detector = Detector(settings)
        let model = settings.vocabulary.model
        let (hop, length) = (model.hopSamples, model.windowSamples)
        var quiet = QuietNoise(level: UtteranceSegmenter.noiseFloor(utterance.samples))
        let rest = (hop - utterance.samples.count % hop) % hop
        let audio = quiet.samples(2 * length) + utterance.samples + quiet.samples(rest + length)
        var found: Detection?
        func keep(_ detection: Detection) {
            let coverage = (detection.end - detection.start) / max(utterance.seconds, .leastNonzeroMagnitude)
            if detection.kind == .word, coverage >= Self.leastCoverage { found = detection }
        }
        for end in stride(from: length + hop, through: audio.count, by: hop) {
            detector.process(window: audio.span.extracting(end - length..<end)) { keep($0) }
        }
        detector.finish { keep($0) }
        return found.map(settings.name(of:))
    }
}
