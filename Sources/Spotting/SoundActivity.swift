/// Where in the last 1.6 s there was sound, as a ``SoundTracker`` left it: small enough to keep one of every hop.
public struct SoundActivity: Equatable, Sendable {
    /// Bit i: the step i steps ago (0 newest) was sound.
    private var recent: UInt64 = 0
    /// Steps since the last sound, counted on while it stays quiet.
    private var quietSteps = Int.max / 2

    /// Nothing was heard, ever.
    public init() {}

    /// Seconds since the last sound.
    public var quietSeconds: Double { Double(quietSteps) * SoundTracker.stepSeconds }

    mutating func add(isSound: Bool) {
        recent = recent << 1 | (isSound ? 1 : 0)
        quietSteps = isSound ? 0 : quietSteps + 1
    }

    /// Start and end of the sound that ended last, in seconds before now; gaps up to 150 ms are bridged.
    ///
    /// - Parameter longest: how far back it may reach, in seconds (at most 1.6).
    /// - Returns: nil where the last `longest` seconds were quiet.
    public func lastSound(within longest: Double) -> (start: Double, end: Double)? {
        let steps = min(63, Int(longest / SoundTracker.stepSeconds))
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
        return (Double(oldest + 1) * SoundTracker.stepSeconds, Double(newest) * SoundTracker.stepSeconds)
    }
}
