private import Core

extension Gate {
    /// A word that fires by itself: once each time that its score rises above its threshold.
    struct RisingWord {
        /// How long such a word takes, in seconds: nothing tells where it began.
        static let seconds = 1.0

        /// Index of its label.
        var label: Int
        /// Whether the word goes through the gate too, by other evidence. It fires once, by what comes first.
        var isGated: Bool
        fileprivate var isArmed = true
        /// Time of the newest detection, in seconds.
        fileprivate var fired = -Double.infinity

        init(label: Int, isGated: Bool = false) { (self.label, self.isGated) = (label, isGated) }
    }

    /// What the score of such a word must exceed; nil for one that may not fire. One that goes through the gate too has the scale of its
    /// level in mode `command`, in both modes.
    func threshold(rising word: Int) -> Float? {
        let label = rising[word].label
        guard let threshold = thresholds.values[label] else { return nil }
        return alone(label)?.least ?? threshold
    }

    /// Notes that the gate fires a word: if it is one of these too, that is the same one.
    mutating func disarm(rising label: Int) {
        for word in rising.indices where rising[word].label == label {
            (rising[word].isArmed, rising[word].fired) = (false, time)
        }
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
        guard let threshold = threshold(rising: word), score > threshold else {
            if time - rising[word].fired >= settings.refractory { rising[word].isArmed = true }
            return nil
        }
        // A later look may hear the end of the same utterance once more.
        guard rising[word].isArmed, time - rising[word].fired >= settings.refractory else { return nil }
        (rising[word].isArmed, rising[word].fired) = (false, time)
        if rising[word].isGated { disarm(label) }
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
