public import Inference

/// Audio windows in, posteriors and sound activity out: the hearing half of the ``Detector``, before any decision.
public struct HopScorer: ~Copyable {
    private var session: Session
    private var tracker = SoundTracker()
    private let hopSamples: Int

    public init(model: Model) {
        session = Session(model)
        hopSamples = model.hopSamples
    }

    /// Probability of each label, after the newest hop.
    public var posteriors: [Float] { session.posteriors }

    /// Where there was sound, after the newest hop.
    public var sound: SoundActivity { tracker.activity }

    /// Hears one hop more; `window` is the last second, its last hop new since the call before.
    public mutating func hear(window: Span<Float>) {
        session.score(window: window)
        tracker.add(window.extracting(last: hopSamples))
    }

    /// Forgets the audio heard so far.
    public mutating func flush() {
        session.reset()
        tracker.flush()
    }

    /// Seconds from one hop to the next.
    public static func hopSeconds(of model: Model) -> Double { Double(model.hopSamples) / Double(model.sampleRate) }
}
