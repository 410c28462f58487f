/// What somebody said between two pauses, with a little of what was before and after it.
public struct Utterance: Sendable, Equatable {
    /// Mono at 16 kHz, in [−1, 1].
    public let samples: [Float]
    /// Where in them speech begins and ends, as finely as the model tells.
    public let speech: Range<Int>
    /// Number of its first sample, counted from the first that was heard.
    public let start: Int

    public init(samples: [Float], speech: Range<Int>, start: Int = 0) {
        self.samples = samples
        self.speech = speech
        self.start = start
    }

    /// What of it lies in a range of samples, counted from the first that was heard; nil where no speech does.
    func clamped(to range: Range<Int>) -> Utterance? {
        let whole = start..<start + samples.count
        let said = (speech.lowerBound + start..<speech.upperBound + start).clamped(to: range)
        let kept = whole.clamped(to: range)
        guard !said.isEmpty else { return nil }
        return Utterance(
            samples: Array(samples[kept.lowerBound - start..<kept.upperBound - start]),
            speech: said.lowerBound - kept.lowerBound..<said.upperBound - kept.lowerBound,
            start: kept.lowerBound - range.lowerBound
        )
    }

    public static let sampleRate = 16000

    /// Length of the speech.
    public var seconds: Double { Double(speech.count) / Double(Self.sampleRate) }
}

/// Low, even noise to stand before and behind recordings: a network was never taught digital silence beside speech.
struct QuietNoise {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    private let peak: Float

    /// - Parameter level: root mean square.
    init(level: Float) { peak = level * Float(3).squareRoot() }

    mutating func samples(_ count: Int) -> [Float] {
        (0..<max(0, count)).map { _ in
            // Numbers of Marsaglia's xorshift64.
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return (Float(state >> 40) / Float(1 << 23) - 1) * peak
        }
    }
}

/// Root mean square.
func level(_ samples: ArraySlice<Float>) -> Float {
    guard !samples.isEmpty else { return 0 }
    return (samples.reduce(0) { $0 + $1 * $1 } / Float(samples.count)).squareRoot()
}
