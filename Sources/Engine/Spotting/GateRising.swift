private import Core

extension Gate {
    /// A word that fires by itself: once each time that its score rises above its threshold.
    struct RisingWord {
        /// How long such a word takes, in seconds: nothing tells where it began.
        static let seconds = 1.0

        /// Index of its label.
        var label: Int { didSet { proposal = nil } }
        /// Whether the word goes through the gate too, by other evidence. It fires once, by what comes first, and no look is needed.
        var isGated: Bool
        /// What waits for a look that confirms it.
        fileprivate(set) var proposal: Detection?
        /// Looks that refused it.
        private var refusals = 0
        fileprivate var wasRefused: Bool { refusals > 0 }
        /// A word may be proposed before it is over: it is looked at again with the audio that follows, so often in all.
        private static let mostLooks = 4
        fileprivate var isArmed = true
        /// Time of the newest detection, in seconds.
        fileprivate var fired = -Double.infinity

        init(label: Int, isGated: Bool = false) { (self.label, self.isGated) = (label, isGated) }

        fileprivate mutating func propose(_ word: Detection) { (proposal, refusals) = (word, 0) }

        /// Notes that a look refused it.
        fileprivate mutating func refuse() {
            refusals += 1
            guard refusals == Self.mostLooks else { return }
            drop()
            fired = -.infinity
        }

        /// What was proposed can no longer fire.
        mutating func drop() { proposal = nil }
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
    /// - Returns: the word, if it fires; nil also for one that is only proposed.
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
        let found = Detection(
            kind: .word,
            index: label,
            confidence: score,
            start: max(0, time - RisingWord.seconds),
            end: time,
            time: time,
            threshold: threshold,
            mode: .spot
        )
        guard isProposed(label), !rising[word].isGated else { return found }
        rising[word].propose(found)
        return nil
    }

    /// Decides the proposal of a word that fires by itself. Allocates nothing.
    ///
    /// - Parameters:
    ///   - word: its place in `rising`.
    ///   - verdict: nil where nothing looks.
    /// - Returns: the word, if it fires.
    mutating func confirm(rising word: Int, _ verdict: Verdict?) -> Detection? {
        guard var found = rising[word].proposal else { return nil }
        guard let verdict, verdict.label == found.index, verdict.confidence > found.threshold else {
            rising[word].refuse()
            return nil
        }
        // One that a later look confirms fires later.
        if rising[word].wasRefused { found.time = nextTime }
        rising[word].drop()
        found.proposed = found.confidence
        (found.confidence, found.confirmed) = (verdict.confidence, verdict.confirmed)
        return found
    }
}
