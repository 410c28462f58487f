import Glibc

/// How much of what is heard a canceller removes while something is played: the echo return loss enhancement.
///
/// Speech over it counts as echo that is not removed. A pure value of fixed size.
struct EchoAccount {
    /// Part of the sums that the past keeps with each block of 100 ms: they are about the last three seconds.
    private static let past = 0.97
    /// Blocks before there is a figure.
    private static let least = 10

    private var before = 0.0
    private var after = 0.0
    private var blocks = 0

    /// Notes a block's energy before and after.
    mutating func add(before: Float, after: Float) {
        self.before = Self.past * self.before + Double(before)
        self.after = Self.past * self.after + Double(after)
        blocks += 1
    }

    /// Nil where too little was heard.
    var decibels: Float? {
        guard blocks >= Self.least, before > 1e-9 else { return nil }
        return Float(max(-60, min(60, 10 * log10(before / max(after, 1e-12)))))
    }

    static func energy(_ samples: Span<Float>) -> Float {
        var sum: Float = 0
        for index in samples.indices { sum += samples[index] * samples[index] }
        return sum
    }
}
