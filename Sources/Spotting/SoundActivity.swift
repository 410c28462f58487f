/// Where in the last 64 steps there was sound, or speech: what a ``SoundTracker`` or a ``VoiceTracker`` knows, small
/// enough to keep one of every hop.
public struct SoundActivity: Equatable, Sendable {
    /// Length of a step in seconds.
    public let stepSeconds: Double
    /// Bit i: the step i steps ago (0 newest) was sound.
    private var recent: UInt64 = 0
    /// Steps since the last sound, counted on while it stays quiet.
    private var quietSteps = Int.max / 2

    /// Nothing was heard, ever.
    public init(stepSeconds: Double = SoundTracker.stepSeconds) { self.stepSeconds = stepSeconds }

    /// Seconds since the last sound.
    public var quietSeconds: Double { Double(quietSteps) * stepSeconds }

    mutating func add(isSound: Bool) {
        recent = recent << 1 | (isSound ? 1 : 0)
        quietSteps = isSound ? 0 : quietSteps + 1
    }

    /// Start and end of the sound that ended last, in seconds before now; gaps up to 150 ms are bridged.
    ///
    /// - Parameter longest: how far back it may reach, in seconds (at most 63 steps).
    /// - Returns: nil where the last `longest` seconds were quiet.
    public func lastSound(within longest: Double) -> (start: Double, end: Double)? {
        let steps = min(63, wholeSteps(in: longest))
        var newest = 0
        while newest < steps, recent >> UInt64(newest) & 1 == 0 { newest += 1 }
        guard newest < steps else { return nil }
        var oldest = newest
        var gap = 0
        let longestGap = wholeSteps(in: 0.15)
        for age in newest..<steps {
            if recent >> UInt64(age) & 1 == 1 {
                oldest = age
                gap = 0
            } else {
                gap += 1
                if gap > longestGap { break }
            }
        }
        return (Double(oldest + 1) * stepSeconds, Double(newest) * stepSeconds)
    }

    /// Whether each of the newest steps was sound, oldest first; `count` is at most 64.
    public func newest(_ count: Int) -> [Bool] {
        (0..<max(0, min(count, 64))).reversed().map { recent >> UInt64($0) & 1 == 1 }
    }

    /// Whole steps in so many seconds, the last one even where rounding makes it a trifle longer.
    private func wholeSteps(in seconds: Double) -> Int { Int(seconds / stepSeconds + 1e-6) }
}
