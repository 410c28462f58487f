/// Tells, in steps of 25 ms, where in the last second there was sound above the background.
///
/// The network's posteriors look at a whole second and so cannot say when within it something was said. This tracker
/// can: a step is sound when its level is well above the quietest step of the last seconds. It serves two ends: the
/// start and end times of events, and the gate's question whether anything new was said since the last word. It
/// takes no part in telling words apart, so heavy noise costs sharpness of times, not recognition.
public struct SoundTracker {
    /// Length of a step in samples (25 ms) and seconds.
    public static let stepSamples = 400
    static let stepSeconds = 0.025

    /// Decibels above the background at which a step counts as sound.
    private static let margin: Float = 8
    /// Level below which nothing counts as sound, in dB relative to full scale.
    private static let leastLevel: Float = -65
    /// Steps over which the background is the minimum: 2.4 s, longer than any word without a closure in it.
    private static let backgroundSteps = 96

    private var levels = [Float](repeating: 0, count: backgroundSteps)
    private var seen = 0
    /// Bit i: the step i steps ago (0 newest) was sound.
    private var recent: UInt64 = 0
    /// Steps since the last sound, counted on while it stays quiet.
    private var quietSteps = Int.max / 2

    public init() {}

    /// Seconds since the last sound.
    public var quietSeconds: Double { Double(quietSteps) * Self.stepSeconds }

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
        recent = recent << 1 | (isSound ? 1 : 0)
        quietSteps = isSound ? 0 : quietSteps + 1
    }

    /// Start and end of the sound that ended last, in seconds before now; gaps up to 150 ms are bridged.
    ///
    /// - Parameter longest: how far back it may reach, in seconds (at most 1.6).
    /// - Returns: nil where the last `longest` seconds were quiet.
    public func lastSound(within longest: Double) -> (start: Double, end: Double)? {
        let steps = min(63, Int(longest / Self.stepSeconds))
        var newest = 0
        while newest < steps, recent >> UInt64(newest) & 1 == 0 { newest += 1 }
        guard newest < steps else { return nil }
        var oldest = newest
        var gap = 0
        for age in newest..<steps {
            if recent >> UInt64(age) & 1 == 1 {
                oldest = age
                gap = 0
            } else {
                gap += 1
                if gap > 6 { break }
            }
        }
        return (Double(oldest + 1) * Self.stepSeconds, Double(newest) * Self.stepSeconds)
    }

    /// Forgets everything, as after a gap in the audio.
    public mutating func flush() {
        seen = 0
        recent = 0
        quietSteps = Int.max / 2
    }
}
