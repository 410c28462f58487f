import Inference

/// Scores the words of all kinds in one stream, from what the network says of a hop, wherever that was computed; and finds activity.
///
/// One for each stream: of a microphone, of a batch, of a file, of a clip, of what a loudspeaker plays. Only `init` and `update` allocate.
struct WordScorers {
    /// Scores of the newest hop, and those that the next one will have.
    private(set) var scores: WordScores
    private(set) var ahead: WordScores
    private var vocabulary: Vocabulary
    private let only: FiringRule?
    private var kinds: [any WordKind]
    /// Where the words of each kind begin among those of its rule.
    private var places: [Int]
    private var scorers: [any WordScorer]
    private var detector: ActivityDetector

    /// - Parameter only: the rule of the kinds that are scored; nil for all.
    init(_ vocabulary: Vocabulary, only: FiringRule? = nil) {
        self.vocabulary = vocabulary
        self.only = only
        scores = WordScores(gated: vocabulary.fusion.wordLabels.count, rising: vocabulary.risingLabels.count)
        ahead = scores
        (kinds, places) = Self.kinds(of: vocabulary, only)
        scorers = kinds.map { $0.makeScorer() }
        detector = ActivityDetector(of: vocabulary.model)
    }

    private static func kinds(of vocabulary: Vocabulary, _ only: FiringRule?) -> ([any WordKind], [Int]) {
        let chosen = vocabulary.kinds.indices.filter { only == nil || vocabulary.kinds[$0].rule == only }
        return (chosen.map { vocabulary.kinds[$0] }, chosen.map { vocabulary.places[$0] })
    }

    /// Speech or sound up to the newest hop.
    var activity: ActivityHistory { detector.history }

    /// Adds a hop.
    ///
    /// - Parameters:
    ///   - hop: its samples.
    ///   - logits: of the model's activity layer; unused if it has none.
    ///   - embedding: of the model; empty unless the vocabulary ``Vocabulary/embeds``.
    mutating func add(hop: Span<Float>, logits: [Float], embedding: [Float]) {
        detector.add(hop: hop, logits: logits)
        scores.clearSteps()
        for index in scorers.indices {
            scores.first = places[index]
            scorers[index].add(hop: hop, embedding: embedding, to: &scores)
        }
        scores.first = 0
    }

    /// Computes ``ahead`` from the embedding that the next hop will have; nothing else changes.
    mutating func lookAhead(embedding: [Float]) {
        ahead.copy(scores)
        for index in scorers.indices {
            ahead.first = places[index]
            scorers[index].lookAhead(embedding: embedding, to: &ahead)
        }
        ahead.first = 0
    }

    /// Switches to other words or another model from the next hop on; a kind with the same words goes on.
    mutating func update(_ new: Vocabulary) {
        let (others, places) = Self.kinds(of: new, only)
        scorers = others.map { kind in
            kinds.firstIndex { kind.goesOn(from: $0) }.map { scorers[$0] } ?? kind.makeScorer()
        }
        (kinds, self.places) = (others, places)
        if new.model !== vocabulary.model { detector.update(new.model) }
        vocabulary = new
        scores = WordScores(gated: new.fusion.wordLabels.count, rising: new.risingLabels.count)
        ahead = scores
    }

    /// Begins again, for example after a gap in the audio.
    mutating func flush() {
        for index in scorers.indices { scorers[index].flush() }
        detector.flush()
    }
}
