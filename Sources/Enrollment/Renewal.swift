public import Inference

extension WordStore {
    /// Makes all vectors anew, from the recordings that were kept, where another model made them.
    ///
    /// - Parameter background: nil leaves the words at the usual boundary.
    /// - Returns: names of the words that are gone, as none of their recordings was kept.
    public mutating func renew(for model: Model, _ background: NegativeSet?) -> [String] {
        guard embedding != model.embeddingIdentity else { return [] }
        var lost: [String] = []
        var renewed: [Word] = []
        for word in words {
            let utterances = word.takes.compactMap { Self.utterance($0.audio, model) }
            guard let first = utterances.first else {
                lost.append(word.name)
                continue
            }
            var embedder = TakeEmbedder(model)
            let lag = TakeEmbedder.lag(seconds: first.seconds, model)
            var takes: [Take] = []
            for utterance in utterances {
                takes.append(Take(anchors: embedder.anchors(of: utterance, lag: lag), lag: lag, audio: utterance.audio))
            }
            renewed.append(Word(name: word.name, takes: takes))
        }
        if let background {
            for index in renewed.indices { _ = renewed[index].settle(among: renewed, background) }
        }
        words = renewed
        embedding = model.embeddingIdentity
        return lost
    }

    /// What is said in a recording that was kept: one utterance, from its first sound to its last.
    private static func utterance(_ audio: [Int16], _ model: Model) -> Utterance? {
        let samples = audio.map { Float($0) / 32768 }
        let found = UtteranceCutter.utterances(of: samples, model)
        guard let first = found.first, let last = found.last else { return nil }
        let speech = first.start + first.speech.lowerBound..<last.start + last.speech.upperBound
        return Utterance(samples: samples, speech: speech)
    }
}

extension Utterance {
    /// The samples in 16 bits, as they are kept.
    var audio: [Int16] { samples.map { Int16(max(-32768, min(32767, ($0 * 32768).rounded()))) } }
}
