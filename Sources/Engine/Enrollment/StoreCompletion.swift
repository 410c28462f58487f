private import Core
import Inference

// What earlier versions did not store yet: parts of phrases, sequences and speech frames are computed from recordings, thresholds of sensitivities from
// the negative set.

extension WordStore {
    /// The words of this model of which an earlier version stored too little.
    func incomplete(for model: Model) -> [String] {
        words.filter { $0.isUsable(by: model) && ($0.lacksParts || $0.lacksSequences || $0.lacksSpeech) }.map(\.name)
    }

    /// Whether a word of this model was calibrated before there were sensitivities.
    func lacksEstimates(for model: Model) -> Bool {
        words.contains { $0.isUsable(by: model) && $0.sensitivities.isEmpty }
    }

    /// Computes what is missing, as far as takes have recordings. With a negative set, words that have got sequences or speech frames are
    /// calibrated again; their thresholds stay as they are, and with them what the user chose.
    mutating func complete(for model: Model, _ negatives: NegativeSet?) {
        var embedder = TakeEmbedder(model)
        for index in words.indices where words[index].isUsable(by: model) {
            if words[index].lacksParts { words[index].addParts(&embedder, model) }
            let lacked = words[index].lacksSequences || words[index].lacksSpeech
            if lacked { words[index].addSequences(&embedder, model) }
            guard let negatives else { continue }
            if lacked, !words[index].sequences.isEmpty {
                let threshold = words[index].threshold
                let calibration = words[index].calibrate(among: words, negatives)
                words[index].threshold = threshold
                words[index].sensitivities = calibration.sensitivities(
                    threshold: threshold,
                    boundary: words[index].firingBoundary
                )
            } else if words[index].sensitivities.isEmpty {
                words[index].estimateSensitivities(negatives)
            }
        }
    }
}
