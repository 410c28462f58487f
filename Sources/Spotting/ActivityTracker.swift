public import Inference

/// Where there was speech, by the model's activity layer; or sound, by level, where the model has none.
public struct ActivityTracker {
    private var voice: VoiceTracker?
    private var level = SoundTracker()

    public init(of model: Model) { voice = VoiceTracker(of: model) }

    /// What the newest hop left known.
    public var activity: SoundActivity { voice?.activity ?? level.activity }

    /// - Parameters:
    ///   - hop: the newest hop's samples.
    ///   - logits: what the activity layer says of it.
    public mutating func add(hop: Span<Float>, logits: [Float]) {
        if voice == nil { level.add(hop) } else { voice?.add(logits) }
    }

    /// Goes by another model; what is known is kept where that one tells as finely.
    public mutating func follow(_ model: Model) {
        let other = ActivityTracker(of: model)
        if voice?.activity.stepSeconds != other.voice?.activity.stepSeconds { self = other }
    }

    /// Forgets everything, as after a gap in the audio.
    public mutating func flush() {
        voice?.flush()
        level.flush()
    }
}
