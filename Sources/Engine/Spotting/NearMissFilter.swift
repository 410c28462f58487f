import Core

/// Keeps a near miss until it is certain, and drops it where a word of any kind was detected near it: then its score was that of the
/// detected word's audio.
///
/// Words of the model, taught words and wake words have trackers of their own, at their own times. All their near misses and all
/// detections go through the one filter of a stream. Of those close together only the nearest to its threshold counts, so that one
/// sound is reported once.
struct NearMissFilter {
    /// Where the audio of a near miss is less than this before or after that of a detected word, it is none; in seconds.
    static let separation = 1.0
    /// How long after its score fell a near miss is certain: the next word, which begins within ``separation``, was decided by then.
    private static let delay = 1.5
    /// Detections that are remembered: those of the last seconds.
    private static let remembered = 4

    /// The near miss that is reported at a time, if no word is detected near it.
    private var pending: (miss: Detection, due: Double)?
    /// Audio of the newest detections, the oldest first; a decision after the end of its word counts as its audio.
    private var words = [Range<Double>](repeating: 0..<0, count: Self.remembered)
    /// How many of them there were.
    private var count = 0

    /// Notes a detected word.
    mutating func note(_ word: Detection) {
        let audio = min(word.start, word.end)..<max(word.start, word.end, word.time)
        words[count % words.count] = audio
        count += 1
        if let pending, Self.isNear(pending.miss, audio) { self.pending = nil }
    }

    /// Notes a near miss, whose score has fallen at this time.
    mutating func add(_ miss: Detection, at time: Double) {
        for index in 0..<min(count, words.count) where Self.isNear(miss, words[index]) { return }
        if let pending, Self.closeness(miss) <= Self.closeness(pending.miss) { return }
        pending = (miss, time + Self.delay)
    }

    /// Takes the near miss that is certain at a time.
    ///
    /// - Parameter isEnd: whether the audio ends there, so that nothing more is waited for.
    mutating func take(at time: Double, isEnd: Bool = false) -> Detection? {
        guard let (kept, due) = pending, isEnd || time >= due - 1e-6 else { return nil }
        pending = nil
        var miss = kept
        miss.time = time
        return miss
    }

    /// Forgets what is not certain, for example after a gap in the audio. Allocates nothing.
    mutating func flush() {
        pending = nil
        count = 0
    }

    private static func isNear(_ miss: Detection, _ word: Range<Double>) -> Bool {
        miss.start < word.upperBound + separation && miss.end > word.lowerBound - separation
    }

    /// The share of its threshold that the score reached.
    private static func closeness(_ miss: Detection) -> Float { miss.confidence / max(miss.threshold, 1e-6) }
}
