/// Tells, in steps of 25 ms, where in the last second there was sound above the background.
///
/// For models that have no activity layer, which a ``VoiceTracker`` would follow. The network's posteriors look at a whole
/// second and so cannot say when within it something was said. This tracker can: a step is sound when its level is well
/// above the quietest step of the last seconds. It serves two ends: the start and end times of events, and the gate's
/// question whether anything new was said since the last word. It takes no part in telling words apart; but in noise
/// that swells and dies it takes the noise for sound.
public struct SoundTracker {
    /// Length of a step in samples (25 ms) and seconds.
    public static let stepSamples = 400
    public static let stepSeconds = 0.025

    /// Decibels above the background at which a step counts as sound.
    private static let margin: Float = 8
    /// Level below which nothing counts as sound, in dB relative to full scale.
    private static let leastLevel: Float = -65
    /// Steps over which the background is the minimum: 2.4 s, longer than any word without a closure in it.
    private static let backgroundSteps = 96

    /// What the newest step left known.
    public private(set) var activity = SoundActivity()
    private var levels = [Float](repeating: 0, count: backgroundSteps)
    private var seen = 0

    public init() {}

    /// Takes the newest hop in: any number of samples in [−1, 1]; a rest shorter than a step is left out.
    public mutating func add(_ samples: Span<Float>) {
        var begin = 0
        while begin + Self.stepSamples <= samples.count {
            var energy: Float = 0
            for index in begin..<begin + Self.stepSamples { energy += samples[index] * samples[index] }
            addStep(decibels(energy / Float(Self.stepSamples)))
            begin += Self.stepSamples
        }
    }

    private mutating func addStep(_ level: Float) {
        levels[seen % Self.backgroundSteps] = level
        seen += 1
        var background = level
        for index in 0..<min(seen, Self.backgroundSteps) { background = min(background, levels[index]) }
        let isSound = level > max(background + Self.margin, Self.leastLevel)
        activity.add(isSound: isSound)
    }

    /// Forgets everything, as after a gap in the audio.
    public mutating func flush() {
        seen = 0
        activity = SoundActivity()
    }
}
