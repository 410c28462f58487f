public import Inference

/// Audio windows in, posteriors and sound activity out: the hearing half of the ``Detector``, before any decision.
public struct HopScorer: ~Copyable {
    private var session: Session
    private var tracker = SoundTracker()
    /// In the tracker's place where the model has an activity layer.
    private var voice: VoiceTracker?
    /// The session has not heard what comes before the next hop.
    private var isNew = false

    public init(model: Model) {
        session = Session(model)
        voice = HopScorer.voiceTracker(of: model)
    }

    private static func voiceTracker(of model: Model) -> VoiceTracker? {
        let steps = model.activityCount
        return steps > 0 ? VoiceTracker(stepSeconds: hopSeconds(of: model) / Double(steps)) : nil
    }

    var model: Model { session.model }

    /// Hears with another model from the next hop on, which it hears with the whole second before. Allocates.
    mutating func adopt(_ model: Model) {
        session = Session(model)
        isNew = true
        let other = HopScorer.voiceTracker(of: model)
        // What is known of pauses is kept as long as both models tell as finely.
        guard voice?.activity.stepSeconds != other?.activity.stepSeconds else { return }
        voice = other
        tracker.flush()
    }

    /// Probability of each label, after the newest hop.
    public var posteriors: [Float] { session.posteriors }

    /// Where there was speech, or sound where the model cannot tell the two apart, after the newest hop.
    public var sound: SoundActivity { voice?.activity ?? tracker.activity }

    /// Hears one hop more; `window` is the last second, its last hop new since the call before.
    public mutating func hear(window: Span<Float>) {
        if isNew { session.scoreWhole(window: window) } else { session.score(window: window) }
        isNew = false
        if voice == nil {
            tracker.add(window.extracting(last: session.model.hopSamples))
        } else {
            voice?.add(session.activity)
        }
    }

    /// Forgets the audio heard so far.
    public mutating func flush() {
        session.reset()
        tracker.flush()
        voice?.flush()
    }

    /// Seconds from one hop to the next.
    public static func hopSeconds(of model: Model) -> Double { Double(model.hopSamples) / Double(model.sampleRate) }
}
