public import Inference

/// Pieces of a recording in their order, and what a model made of them, in; detections out.
///
/// It says what a ``Detector`` says that hears the recording hop by hop.
public struct PieceDetector {
    private let hop: Int
    private let labels: Int
    private let steps: Int
    private var handler: PosteriorHandler
    private var tracker = SoundTracker()
    private var voice: VoiceTracker?

    /// - Returns: nil where the settings foresee hops, which a stream alone can do.
    public init?(model: Model, settings: GateSettings, thresholds: Thresholds, phrases: [Phrase] = []) {
        guard settings.foreseenQuiet == nil else { return nil }
        hop = model.hopSamples
        labels = model.labels.count
        steps = model.activityCount
        voice = VoiceTracker(of: model)
        handler = PosteriorHandler(
            labels: model.labels.count,
            silence: model.silenceIndex,
            hopSeconds: HopScorer.hopSeconds(of: model),
            settings: settings,
            thresholds: thresholds,
            phrases: phrases
        )
    }

    /// - Parameters:
    ///   - report: called for each detection, in order.
    public mutating func decide(_ piece: AudioPiece, _ answers: PieceAnswers, report: (Detection) -> Void) {
        let first = piece.samples.count - piece.hops * hop
        for number in 0..<piece.hops {
            let sound: SoundActivity
            if var voice {
                voice.add(Array(answers.activity[number * steps..<(number + 1) * steps]))
                self.voice = voice
                sound = voice.activity
            } else {
                let start = first + number * hop
                tracker.add(piece.samples.span.extracting(start..<start + hop))
                sound = tracker.activity
            }
            let posteriors = Array(answers.posteriors[number * labels..<(number + 1) * labels])
            handler.add(posteriors, sound: sound, report: report)
        }
    }
}
