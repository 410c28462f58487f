public import WakeWords

/// The wake words of a vocabulary in one stream: their front end, networks and windows of probabilities. After `init`, nothing allocates.
public final class WakeWordStream {
    public let words: [WakeWord]
    private var detector: WakeWordDetector
    private var samples = 0

    /// - Returns: nil without words.
    public init?(_ words: [WakeWord]) {
        guard !words.isEmpty else { return nil }
        self.words = words
        detector = WakeWordDetector(words)
    }

    /// Adds the samples of a hop.
    ///
    /// - Parameter report: called after each step of each word, with the index of the word, its score, and the time
    ///   from the end of the step to the end of the hop, in seconds.
    public func add(hop: Span<Float>, report: (_ word: Int, _ score: Float, _ before: Double) -> Void) {
        samples += hop.count
        let end = samples
        detector.add(hop) { word, score, samples in report(word, score, Double(end - samples) / 16000) }
    }

    /// Resets after a gap: what was said before it can no longer fire.
    public func flush() { detector.flush() }

    /// Whether it can go on for other words: they are the same models.
    func serves(_ other: [WakeWord]) -> Bool {
        words.count == other.count && zip(words, other).allSatisfy { $0 === $1 }
    }
}
