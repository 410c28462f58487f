private import Core

extension Gate {
    /// A word that fires by itself: once each time that its score rises above its threshold.
    struct RisingWord {
        /// How long such a word takes, in seconds: nothing tells where it began.
        static let seconds = 1.0

        /// Index of its label.
        var label: Int
        fileprivate var isArmed = true
        /// Time of the newest detection, in seconds.
        fileprivate var fired = -Double.infinity

        init(label: Int) { self.label = label }
    }

    /// Processes a step of a word that fires by itself. In between two detections, `refractory` passes, and the score falls to the
    /// threshold. Allocates nothing.
    ///
    /// - Parameters:
    ///   - word: its place in `rising`.
    ///   - score: 0…1.
    ///   - time: of the step's end, in seconds.
    /// - Returns: the word, if it fires.
    mutating func rise(_ word: Int, _ score: Float, at time: Double) -> Detection? {
        let label = rising[word].label
        guard let threshold = thresholds.values[label], score > threshold else {
            if time - rising[word].fired >= settings.refractory { rising[word].isArmed = true }
            return nil
        }
        guard rising[word].isArmed else { return nil }
        (rising[word].isArmed, rising[word].fired) = (false, time)
        return Detection(
            kind: .word,
            index: label,
            confidence: score,
            start: max(0, time - RisingWord.seconds),
            end: time,
            time: time,
            threshold: threshold,
            mode: .spot
        )
    }
}
