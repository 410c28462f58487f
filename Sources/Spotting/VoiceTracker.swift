import Inference

/// Tells where in the last seconds somebody spoke, by what the model's activity layer says of each step.
///
/// It serves the same ends as the ``SoundTracker``, but hears speech where that one hears level, so that unsteady noise is
/// not taken for sound and faint words in steady noise are. A hop brings one step for each logit.
public struct VoiceTracker {
    /// What the newest step left known.
    public private(set) var activity: SoundActivity

    /// - Parameter stepSeconds: the length of a step, a hop's divided by the logits that it brings.
    public init(stepSeconds: Double) { activity = SoundActivity(stepSeconds: stepSeconds) }

    /// - Returns: nil where the model has no activity layer.
    init?(of model: Model) {
        guard model.activityCount > 0 else { return nil }
        self.init(stepSeconds: HopScorer.hopSeconds(of: model) / Double(model.activityCount))
    }

    /// Takes the newest hop in: logits that somebody speaks, oldest first.
    ///
    /// Speech is where it is at least as likely as not. A logit that is no number, as after such samples, is none: the
    /// posteriors then say silence too.
    public mutating func add(_ logits: [Float]) {
        for index in logits.indices { activity.add(isSound: logits[index] >= 0 && logits[index].isFinite) }
    }

    /// Forgets everything, as after a gap in the audio.
    public mutating func flush() { activity = SoundActivity(stepSeconds: activity.stepSeconds) }
}
