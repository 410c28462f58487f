public import Inference

/// Audio windows in, posteriors and sound activity out: the hearing half of the ``Detector``, before any decision.
public struct HopScorer: ~Copyable {
    private var session: Session
    private var tracker = SoundTracker()
    /// In the tracker's place where the model has an activity layer.
    private var voice: VoiceTracker?
    private let hopSamples: Int

    public init(model: Model) {
        session = Session(model)
        hopSamples = model.hopSamples
        let steps = model.activityCount
        voice = steps > 0 ? VoiceTracker(stepSeconds: HopScorer.hopSeconds(of: model) / Double(steps)) : nil
    }

    /// Probability of each label, after the newest hop.
    public var posteriors: [Float] { session.posteriors }

    /// Where there was speech, or sound where the model cannot tell the two apart, after the newest hop.
    public var sound: SoundActivity { voice?.activity ?? tracker.activity }

    /// Hears one hop more; `window` is the last second, its last hop new since the call before.
    public mutating func hear(window: Span<Float>) {
        session.score(window: window)
        if voice == nil { tracker.add(window.extracting(last: hopSamples)) } else { voice?.add(session.activity) }
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
