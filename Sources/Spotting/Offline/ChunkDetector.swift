import Inference

/// Pieces of a recording in their order, and what a model made of them, in; detections out.
///
/// It says what a ``Detector`` says that hears the recording hop by hop.
public struct ChunkDetector {
    private let hop: Int
    private let labels: Int
    private let steps: Int
    private let dimensions: Int
    private var handler: PosteriorHandler
    private var personal: PersonalScorer
    private var tracker: ActivityDetector

    /// - Returns: nil where the settings look ahead, which a stream alone can do.
    public init?(_ vocabulary: Vocabulary, settings: GateSettings, thresholds: Thresholds, phrases: [Phrase] = []) {
        guard settings.lookaheadQuiet == nil else { return nil }
        let model = vocabulary.model
        hop = model.hopSamples
        labels = model.labels.count
        steps = model.activityCount
        dimensions = vocabulary.personal.isEmpty ? 0 : model.embeddingCount
        personal = PersonalScorer(vocabulary.personal, dimensions: dimensions)
        tracker = ActivityDetector(of: model)
        handler = PosteriorHandler(vocabulary, settings: settings, thresholds: thresholds, phrases: phrases)
    }

    /// - Parameters:
    ///   - report: called for each detection, in order.
    public mutating func decide(_ piece: AudioChunk, _ answers: ChunkScores, report: (Detection) -> Void) {
        let first = piece.samples.count - piece.hops * hop
        for number in 0..<piece.hops {
            let start = first + number * hop
            tracker.add(
                hop: piece.samples.span.extracting(start..<start + hop),
                logits: Array(answers.activity[number * steps..<(number + 1) * steps])
            )
            if dimensions > 0 {
                personal.add(Array(answers.embeddings[number * dimensions..<(number + 1) * dimensions]))
            }
            let posteriors = Array(answers.posteriors[number * labels..<(number + 1) * labels])
            let answer = HopScores(posteriors: posteriors, personal: personal.probabilities)
            handler.process(answer, activity: tracker.history, report: report)
        }
    }
}
