/// Turns smoothed scores into one decision a word: a state machine without clock, audio or effects.
///
/// Each hop takes the scores in and hands back at most one decision. Three defects end here: the same word firing again
/// while the window slides over it, a word's tail taken for another word, and old audio firing after a gap.
public struct Gate {
    /// A word the gate let through.
    public struct Decision: Equatable, Sendable {
        /// Index of the label.
        public let label: Int
        /// Smoothed posterior, 0…1; with `Trigger.end` the highest of the word.
        public let confidence: Float
        /// Hop at which the word first won, counted from the start or the last `flush()`.
        public let firstHop: Int
        /// Hop at which that confidence was reached.
        public let bestHop: Int
    }

    private struct Candidate {
        var label: Int
        var firstHop: Int
        var streak: Int
        /// Something was being said when the word began to win; a tail that is left of an earlier word has nothing new.
        var fresh: Bool
    }

    /// Whether the gate hears speech now.
    public private(set) var inSpeech = false
    /// Hops taken in since the start or the last `flush()`.
    public private(set) var hop = 0

    /// Labels of the words that fired and may not fire again yet.
    public var resting: [Int] { armed.indices.filter { !armed[$0] } }

    /// May be changed between hops; state is kept.
    public var thresholds: Thresholds
    var settings: GateSettings
    /// `command`: for each label, how much longer than `longestUtterance` its utterances may be, in seconds; none where it ends.
    var longer: [Double] = []
    private var silence: Int
    private let hopSeconds: Double

    private var candidate: Candidate?
    private var pending: Decision?
    private var armed: [Bool]
    private var firedAt: [Int]
    private var lastFire: Int?
    private var utteranceStart = 0
    /// Time since the last sound, one hop ago.
    private var lastQuiet = 0.0
    /// `command`: the utterance began after a pause and has not had its decision yet.
    private var open = false

    /// - Parameters:
    ///   - silence: index of the label that stands for silence.
    ///   - hopSeconds: time between two score vectors.
    public init(settings: GateSettings, thresholds: Thresholds, silence: Int, hopSeconds: Double) {
        self.settings = settings
        self.thresholds = thresholds
        self.silence = silence
        self.hopSeconds = hopSeconds
        armed = [Bool](repeating: true, count: thresholds.values.count)
        firedAt = [Int](repeating: 0, count: thresholds.values.count)
    }

    /// Takes one hop in.
    ///
    /// - Parameters:
    ///   - scores: smoothed posteriors, one a label.
    ///   - quietSeconds: time since the last sound above the background, or speech.
    /// - Returns: the word to act on, if this hop decides one.
    public mutating func step(_ scores: [Float], quietSeconds: Double) -> Decision? {
        guard scores.count == armed.count, silence < scores.count else { return nil }
        hop += 1
        followSpeech(silence: scores[silence])
        followUtterance(quietSeconds: quietSeconds)
        rearm(scores)
        followCandidate(scores, quietSeconds: quietSeconds)
        let decision: Decision? =
            switch settings.trigger {
            case .early: early(scores, quietSeconds: quietSeconds)
            case .end: atEnd(scores, quietSeconds: quietSeconds)
            }
        if let decision { close(decision.label) }
        return decision
    }

    /// Decides by what the next hop would bring if it stayed quiet, when the hop before decided nothing: a word that is over
    /// need not wait for the window to move on.
    ///
    /// - Parameter scores: smoothed posteriors as they would be then.
    public mutating func foresee(_ scores: [Float]) -> Decision? {
        guard scores.count == armed.count, inSpeech, let candidate, candidate.label == best(scores) else { return nil }
        let decision = qualified(scores, streak: candidate.streak + 1)
        if let decision { close(decision.label) }
        return decision
    }

    /// Forgets everything, as after a gap in the audio: nothing heard before may fire.
    public mutating func flush() {
        inSpeech = false
        hop = 0
        candidate = nil
        pending = nil
        lastFire = nil
        utteranceStart = 0
        lastQuiet = 0
        open = false
        // In place: a flush happens on the detector's thread too, which does not allocate.
        for label in armed.indices { armed[label] = true }
    }

    /// Takes scores of other labels from the next hop on; words that rest go on resting. Allocates.
    ///
    /// - Parameter sources: for each new label, which one it was before.
    mutating func relabel(_ sources: [Int?], silence: Int) {
        armed = sources.map { $0.map { armed[$0] } ?? true }
        firedAt = sources.map { $0.map { firedAt[$0] } ?? 0 }
        self.silence = silence
        candidate = nil
        pending = nil
    }

    // MARK: - The parts of a hop

    /// Hysteresis: starts and ends speech, holds in between.
    private mutating func followSpeech(silence: Float) {
        let speech = 1 - silence
        if !inSpeech, speech > silence + settings.startMargin {
            inSpeech = true
            beginUtterance()
        } else if inSpeech, silence > speech + settings.endMargin {
            inSpeech = false
        }
    }

    /// An utterance begins where speech does, and where sound comes back after a pause: the network's window forgets a
    /// word only after most of a second, so that two words a short pause apart are one stretch of speech to it. In
    /// noise that hides the pauses, the first of the two is left.
    private mutating func followUtterance(quietSeconds: Double) {
        if lastQuiet >= settings.quietBefore, quietSeconds < hopSeconds { beginUtterance() }
        lastQuiet = quietSeconds
    }

    private mutating func beginUtterance() {
        utteranceStart = hop
        open = true
    }

    /// A word may fire again when its score has fallen below its threshold and the refractory time is over.
    private mutating func rearm(_ scores: [Float]) {
        for label in armed.indices where !armed[label] {
            guard let threshold = thresholds.values[label] else { continue }
            if scores[label] < threshold, seconds(hop - firedAt[label]) >= settings.refractory { armed[label] = true }
        }
    }

    /// Which word wins, and since when.
    private mutating func followCandidate(_ scores: [Float], quietSeconds: Double) {
        let best = best(scores)
        guard inSpeech, thresholds.values[best] != nil else {
            candidate = nil
            return
        }
        if candidate?.label == best {
            candidate?.streak += 1
        } else {
            candidate = Candidate(
                label: best,
                firstHop: hop,
                streak: 1,
                fresh: quietSeconds <= settings.freshness
            )
        }
    }

    private func best(_ scores: [Float]) -> Int {
        var best = 0
        for label in scores.indices where scores[label] > scores[best] { best = label }
        return best
    }

    /// The candidate as a decision if it is stable, sure, armed, no remainder of the last word and, in `command` mode,
    /// said alone so far.
    private func qualified(_ scores: [Float], streak: Int) -> Decision? {
        guard let candidate, streak >= settings.stability, armed[candidate.label],
            let threshold = thresholds.values[candidate.label], scores[candidate.label] >= threshold
        else { return nil }
        if let lastFire, seconds(hop - lastFire) < settings.echo, !candidate.fresh { return nil }
        if settings.mode == .command, !open || isTooLong(candidate.label) { return nil }
        return Decision(
            label: candidate.label,
            confidence: scores[candidate.label],
            firstHop: candidate.firstHop,
            bestHop: hop
        )
    }

    /// The candidate as soon as it qualifies and, in `command` mode, nothing follows the word at once.
    private func early(_ scores: [Float], quietSeconds: Double) -> Decision? {
        if settings.mode == .command, quietSeconds < settings.breath { return nil }
        return qualified(scores, streak: candidate?.streak ?? 0)
    }

    /// Keeps the best of the word and gives it when the word is over.
    private mutating func atEnd(_ scores: [Float], quietSeconds: Double) -> Decision? {
        if let now = qualified(scores, streak: candidate?.streak ?? 0),
            now.confidence > (pending?.confidence ?? 0) || now.label != pending?.label
        {
            let over = settings.mode == .spot && pending != nil && now.label != pending?.label
            let previous = pending
            pending = now
            if over { return previous }
        }
        guard let best = pending else { return nil }
        switch settings.mode {
        case .spot:
            guard !inSpeech || scores[best.label] < (thresholds.values[best.label] ?? 1) else { return nil }
        case .command:
            if inSpeech, isTooLong(best.label) {
                pending = nil
                return nil
            }
            guard !inSpeech || quietSeconds >= settings.quietAfter else { return nil }
        }
        pending = nil
        return best
    }

    private mutating func close(_ label: Int) {
        armed[label] = false
        firedAt[label] = hop
        lastFire = hop
        open = false
    }

    private func isTooLong(_ label: Int) -> Bool {
        seconds(hop - utteranceStart) > settings.longestUtterance + (longer.indices.contains(label) ? longer[label] : 0)
    }

    private func seconds(_ hops: Int) -> Double { Double(hops) * hopSeconds }
}
