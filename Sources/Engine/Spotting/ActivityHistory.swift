/// Which of the last 64 steps were active.
///
/// Active means speech (by the activity layer) or sound above the noise floor (by level).
/// A value of 32 bytes, small enough to keep one for every hop.
public struct ActivityHistory: Equatable, Sendable {
    /// Length of a step in seconds.
    public let stepSeconds: Double
    /// Bit i is the step i steps ago; bit 0 is the newest.
    private var active: UInt64 = 0
    /// Steps since the last active one; a very large number before the first.
    private var quietSteps = Int.max / 2
    /// What stands out by its level, for taught words and for words that networks confirm; nothing for a history by level.
    var contrast = LevelContrast()
    var confirmedContrast = LevelContrast()

    /// A history without any activity.
    public init(stepSeconds: Double = EnergyActivityDetector.stepSeconds) { self.stepSeconds = stepSeconds }

    /// Seconds since the last active step.
    public var quietSeconds: Double { Double(quietSteps) * stepSeconds }

    mutating func append(isActive: Bool) {
        active = active << 1 | (isActive ? 1 : 0)
        quietSteps = isActive ? 0 : quietSteps + 1
    }

    /// Appends a step for each logit of speech, oldest first.
    ///
    /// A step is active if P(speech) ≥ 0.5, that is logit ≥ 0. A logit that is NaN or infinite, because a sample was,
    /// counts as inactive; the posteriors are then those of silence.
    mutating func append(logits: [Float]) {
        for index in logits.indices { append(isActive: logits[index] >= 0 && logits[index].isFinite) }
    }

    /// Resets to the initial state, for example after a gap in the audio.
    mutating func flush() { self = ActivityHistory(stepSeconds: stepSeconds) }

    /// Start and end of the newest active segment, in seconds before now. Pauses of up to 150 ms do not split a segment.
    ///
    /// - Parameters:
    ///   - longest: how far back to look, in seconds (at most 63 steps).
    ///   - age: segments that began this many seconds ago or later are passed over.
    /// - Returns: nil if no such segment was active in that time.
    public func lastSegment(within longest: Double, begunBefore age: Double = 0) -> (start: Double, end: Double)? {
        let steps = min(63, wholeSteps(in: longest))
        let latest = wholeSteps(in: age)
        let longestGap = wholeSteps(in: 0.15)
        var newest = 0
        while true {
            while newest < steps, active >> UInt64(newest) & 1 == 0 { newest += 1 }
            guard newest < steps else { return nil }
            var oldest = newest
            for step in newest..<steps where active >> UInt64(step) & 1 == 1 {
                if step - oldest - 1 > longestGap { break }
                oldest = step
            }
            if oldest + 1 > latest { return (Double(oldest + 1) * stepSeconds, Double(newest) * stepSeconds) }
            newest = oldest + 1
        }
    }

    /// Whether each of the newest `count` steps was active, oldest first; at most 64.
    public func newest(_ count: Int) -> [Bool] {
        (0..<max(0, min(count, 64))).reversed().map { active >> UInt64($0) & 1 == 1 }
    }

    /// Whole steps in a duration. The small addend keeps the last step when the division rounds down.
    private func wholeSteps(in seconds: Double) -> Int { Int(seconds / stepSeconds + 1e-6) }
}
