import Core

/// Turns smoothed posteriors into at most one detection per word: a state machine without clock or side effects.
///
/// It prevents three errors: a word that fires again while the window slides over it, the residue of a word in the window
/// that is taken for another word, and old audio that fires after a gap. With s the smoothed posteriors of a hop,
/// `step` does this:
///
/// 1. Speech, with hysteresis: it starts where (1 − s[silence]) − s[silence] > `startMargin` and ends where
///    s[silence] − (1 − s[silence]) > `endMargin`.
/// 2. Utterance: one begins where speech starts, and where sound follows `quietBefore` seconds of quiet.
/// 3. Re-arming: a label that fired is refractory until `refractory` seconds have passed and s[label] < its threshold.
/// 4. Candidate: the label of the highest score, during speech and if it has a threshold. Of a model whose networks confirm, also the
///    likeliest of its words beside a higher score of other speech.
/// 5. Firing: the candidate qualifies if it has won `stability` hops in a row, s[label] ≥ its threshold and it is not
///    refractory. Within `residueWindow` of the last detection, it must also have begun at most `hangover` after the
///    last sound, and there must have been sound `newSound` after the end of that word. In mode `command`, which a session can give to some labels only, it must also be the first word of an utterance not longer than
///    `longestUtterance`. ``GateSettings/Trigger`` says when a candidate that qualifies fires;
///    a taught word that is hardly above its threshold waits for `quietAfter` all the same. A taught word, and one with a second look, counts
///    as alone also where it stands out of noise, or of other people's talk, by its level. In mode `spot` a taught word that is said
///    alone, as in mode `command`, qualifies at the lower score of that mode.
/// 6. Confirmation: a word with a second look qualifies at a lower score, and does not fire then, but becomes a ``proposal``.
///    ``confirm(_:activity:)`` takes the verdict, and fires if that reaches what 5 asks for.
public struct Gate {
    struct Candidate {
        var label: Int
        /// Hop at which it first won, counted as `hop`.
        var firstHop: Int
        /// Hops in a row that it has won.
        var streak: Int
        /// It began to win at most `hangover` after the last sound; the residue of an earlier word begins in quiet.
        var isSpoken: Bool
        /// How often it was proposed.
        var looks = 0
    }

    /// Whether the gate is in speech.
    public private(set) var inSpeech = false
    /// Hops since the start or the last `flush()`.
    public private(set) var hop = 0

    /// The proposal of the last `step`, `lookAhead` or `finish`, which waits for its verdict.
    public private(set) var proposal: Proposal?
    /// Of each label the least score that is proposed, `[labels]`; nil for a word that fires without confirmation. Empty if nothing
    /// confirms. May change between hops.
    var proposals: [Float?] = []

    /// Labels that fired and have not been re-armed.
    public var refractoryLabels: [Int] { armed.indices.filter { !armed[$0] } }

    /// May change between hops; state is kept.
    public var thresholds: Thresholds
    /// May change between hops; state is kept.
    var settings: GateSettings
    /// Mode of each label, `[labels]`; the mode of `settings` if missing. May change between hops.
    var modes: [DetectionMode] = []
    /// `early`: of each label its levels where it is said alone, `[labels]`; nil for a label that has none. In mode `spot` they are lower
    /// than its threshold. May change between hops.
    var alone: [AloneLevels?] = []
    /// `command`: seconds by which utterances of each label may exceed `longestUtterance`, `[labels]`; 0 if missing.
    var extraDurations: [Double] = []
    private var silence: Int
    private let hopSeconds: Double

    /// Hops since the stream began, flushes included: the stream's time.
    private(set) var streamHops = 0
    /// End of the last detection in seconds; no later word starts before it.
    private var lastEnd = 0.0
    /// Seconds by which the estimated end of a word may be late.
    private static let overlap = 0.1
    private(set) var candidate: Candidate?
    /// The words that fire by themselves, whatever the others do.
    var rising: [RisingWord] = []
    /// The best hit of the word that is being said: with `end`, or of a word that waits for more quiet.
    var pending: Hit?
    private var armed: [Bool]
    /// Hop at which each label last fired.
    private var firedAt: [Int]
    private var lastFire: Int?
    private var utteranceStart = 0
    /// Seconds since the last sound, as of the previous hop.
    private var lastQuiet = 0.0
    /// `command`: the utterance began after a pause and no word has fired in it.
    private(set) var isOpen = false
    /// What stands out by its level at this hop: for words with levels of their own, and for those that networks confirm.
    private var contrast = LevelContrast()
    private var confirmedContrast = LevelContrast()

    /// - Parameters:
    ///   - silence: index of the silence label.
    ///   - hopSeconds: time from one hop to the next.
    public init(settings: GateSettings, thresholds: Thresholds, silence: Int, hopSeconds: Double) {
        self.settings = settings
        self.thresholds = thresholds
        self.silence = silence
        self.hopSeconds = hopSeconds
        armed = [Bool](repeating: true, count: thresholds.values.count)
        firedAt = [Int](repeating: 0, count: thresholds.values.count)
    }

    /// Processes one hop. Allocates nothing.
    ///
    /// - Parameters:
    ///   - scores: smoothed posteriors, `[labels]`; an array of another length only advances the time.
    ///   - activity: speech or sound up to and including this hop.
    /// - Returns: the word that fires at this hop; nil if none does.
    public mutating func step(_ scores: [Float], activity: ActivityHistory) -> Detection? {
        streamHops += 1
        proposal = nil
        guard scores.count == armed.count, silence < scores.count else { return nil }
        let quiet = activity.quietSeconds
        contrast = activity.contrast
        confirmedContrast = activity.confirmedContrast
        hop += 1
        updateSpeech(silence: scores[silence])
        updateUtterance(quietSeconds: quiet)
        rearm(scores)
        updateCandidate(scores, quietSeconds: quiet)
        let hit: Hit? =
            switch settings.trigger {
            case .early: earlyHit(scores, quietSeconds: quiet)
            case .end: endHit(scores, quietSeconds: quiet)
            }
        guard let hit else { return nil }
        return fireOrPropose(hit, activity)
    }

    /// Decides one hop early, by the scores that the next hop will have if it stays quiet. This lowers the latency of a
    /// word that is over. Call it only when `step` returned nil, and only within ``GateSettings/lookaheadQuiet``.
    ///
    /// - Parameters:
    ///   - scores: smoothed posteriors of the next hop, `[labels]`.
    ///   - activity: as given to `step`.
    /// - Returns: the word that fires; nil if none does.
    public mutating func lookAhead(_ scores: [Float], activity: ActivityHistory) -> Detection? {
        guard scores.count == armed.count, inSpeech, let candidate, candidate.label == likeliest(scores),
            mode(of: candidate.label) == .command,
            let hit = hit(scores, streak: candidate.streak + 1, quietSeconds: activity.quietSeconds),
            isProposed(hit.label) || hit.confidence >= alone(hit.label)?.immediate ?? 0
        else { return nil }
        return fireOrPropose(hit, activity)
    }

    /// Decides what is pending where the audio ends: nothing follows that could end the word or better its score.
    ///
    /// - Parameter activity: as given to the last `step`.
    /// - Returns: the word that fires; nil if none does.
    public mutating func finish(activity: ActivityHistory) -> Detection? {
        proposal = nil
        guard let best = pending else { return nil }
        pending = nil
        if mode(of: best.label) == .command, inSpeech,
            !mayBeAlone(best.label) || !isWhole(best, quietSeconds: activity.quietSeconds)
        {
            return nil
        }
        return fireOrPropose(best, activity)
    }

    /// End of the newest hop in seconds of stream time.
    var time: Double { Double(streamHops) * hopSeconds }

    /// End of the next hop in seconds of stream time.
    var nextTime: Double { Double(streamHops + 1) * hopSeconds }

    /// Decides the proposal by the verdict of the networks, which may be another word.
    ///
    /// - Parameter activity: as given to the call that proposed.
    /// - Returns: the word that fires; nil if none does.
    public mutating func confirm(_ verdict: Verdict, activity: ActivityHistory) -> Detection? {
        guard let proposed = proposal else { return nil }
        proposal = nil
        let label = verdict.label
        guard armed.indices.contains(label), armed[label],
            let threshold = threshold(of: label, for: proposed.hit, quietSeconds: activity.quietSeconds),
            verdict.confidence >= threshold
        else { return nil }
        // Another word than the proposed one may have another mode.
        if mode(of: label) == .command, mode(of: proposed.label) != .command {
            guard mayBeAlone(label), quietAfter(label, activity.quietSeconds) >= settings.trailingSilence else {
                return nil
            }
        }
        let hit = Hit(
            label: label,
            confidence: verdict.confidence,
            threshold: threshold,
            firstHop: proposed.hit.firstHop,
            bestHop: proposed.hit.bestHop
        )
        var detection = fire(hit, activity)
        detection.proposed = proposed.confidence
        detection.confirmed = verdict.confirmed
        return detection
    }

    private mutating func fireOrPropose(_ hit: Hit, _ activity: ActivityHistory) -> Detection? {
        guard isProposed(hit.label) else { return fire(hit, activity) }
        if candidate?.label == hit.label, hit.bestHop == hop {
            // A word that was refused is looked at again with the audio that follows, a few times.
            guard let looks = candidate?.looks, looks < settings.longestConfirmation else { return nil }
            candidate?.looks = looks + 1
        }
        proposal = Proposal(hit, bounds(of: hit, activity))
        return nil
    }

    /// Resets all but the stream's time, for example after a gap in the audio: a word from before can no longer fire.
    public mutating func flush() {
        proposal = nil
        inSpeech = false
        hop = 0
        candidate = nil
        pending = nil
        lastFire = nil
        utteranceStart = 0
        lastQuiet = 0
        isOpen = false
        // In place, as the detector thread flushes too and may not allocate.
        for label in armed.indices { armed[label] = true }
        for word in rising.indices { rising[word].drop() }
    }

    /// Changes the labels from the next hop on; refractory labels stay refractory. Allocates.
    ///
    /// - Parameter sources: for each new label, its index among the old ones; nil if it is new.
    mutating func relabel(_ sources: [Int?], silence: Int) {
        armed = sources.map { $0.map { armed[$0] } ?? true }
        firedAt = sources.map { $0.map { firedAt[$0] } ?? 0 }
        self.silence = silence
        modes = []
        alone = []
        proposals = []
        proposal = nil
        candidate = nil
        pending = nil
    }

    // MARK: - The steps of a hop

    private mutating func updateSpeech(silence: Float) {
        let speech = 1 - silence
        if !inSpeech, speech > silence + settings.startMargin {
            inSpeech = true
            beginUtterance()
        } else if inSpeech, silence > speech + settings.endMargin {
            inSpeech = false
        }
    }

    /// Splits speech at pauses by the activity history. The posteriors cover a whole window, so they do not show a
    /// short pause between two words. Where noise hides the pause, only the first word can fire in `command` mode.
    private mutating func updateUtterance(quietSeconds: Double) {
        if lastQuiet >= settings.quietBefore, quietSeconds < hopSeconds { beginUtterance() }
        lastQuiet = quietSeconds
    }

    private mutating func beginUtterance() {
        utteranceStart = hop
        isOpen = true
    }

    private mutating func rearm(_ scores: [Float]) {
        for label in armed.indices where !armed[label] {
            guard let level = level(label) else { continue }
            if scores[label] < level, seconds(hop - firedAt[label]) >= settings.refractory { armed[label] = true }
        }
    }

    private mutating func updateCandidate(_ scores: [Float], quietSeconds: Double) {
        guard inSpeech, let best = likeliest(scores) else {
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
                isSpoken: quietSeconds <= settings.hangover
            )
        }
    }

    /// The label of the highest score if it may fire; else the likeliest word that may be proposed beside it.
    private func likeliest(_ scores: [Float]) -> Int? {
        var best = 0
        for label in scores.indices where scores[label] > scores[best] { best = label }
        if thresholds.values[best] != nil { return best }
        var word: Int?
        for label in proposals.indices {
            // Not below this, however low its threshold is: such a word has to be the likeliest of all.
            guard let level = proposals[label], thresholds.values[label] != nil, scores[label] >= level else {
                continue
            }
            if scores[label] > word.map({ scores[$0] }) ?? 0 { word = label }
        }
        return word
    }

    /// The candidate at this hop, if it qualifies.
    func hit(_ scores: [Float], streak: Int, quietSeconds: Double) -> Hit? {
        guard let label = candidate?.label, let level = level(label) else { return nil }
        if mode(of: label) == .command, !mayBeAlone(label) { return nil }
        return hit(scores, streak: streak, quietSeconds: quietSeconds, level: level)
    }

    /// The candidate at this hop, if it qualifies where it is said alone and what was said before allows that.
    func aloneHit(_ scores: [Float], quietSeconds: Double) -> Hit? {
        guard let candidate, mayBeAlone(candidate.label), let levels = alone(candidate.label) else { return nil }
        let level = proposalLevel(candidate.label) ?? levels.least
        var found = hit(scores, streak: candidate.streak, quietSeconds: quietSeconds, level: level)
        found?.isAlone = true
        return found
    }

    private func hit(_ scores: [Float], streak: Int, quietSeconds: Double, level: Float) -> Hit? {
        guard let candidate, streak >= settings.stability, armed[candidate.label], scores[candidate.label] >= level
        else { return nil }
        if let lastFire, seconds(hop - lastFire) < settings.residueWindow,
            !candidate.isSpoken || !hasNewSound(quietSeconds)
        {
            return nil
        }
        return Hit(
            label: candidate.label,
            confidence: scores[candidate.label],
            threshold: level,
            firstHop: candidate.firstHop,
            bestHop: hop
        )
    }

    /// Whether there was sound after the last detected word: another word needs some of its own.
    private func hasNewSound(_ quietSeconds: Double) -> Bool { time - quietSeconds >= lastEnd + settings.newSound }

    /// The sound that stands out by its level, if it may be a word of this label that is said alone; nil where noise or talk hides it.
    func standingOut(_ label: Int) -> LevelContrast? {
        // A word of the model has no levels of its own; only networks tell it from the loudest word of a sentence.
        let isTaught = alone(label) != nil
        guard isTaught || isProposed(label) && mode(of: label) == .command else { return nil }
        let contrast = isTaught ? contrast : confirmedContrast
        guard contrast.quietBefore >= settings.quietBefore, contrast.seconds <= longestUtterance(label) else {
            return nil
        }
        // The rest of the word before, or what was said right after it, is not alone.
        return isTaught || time - contrast.seconds >= lastEnd - Self.overlap ? contrast : nil
    }

    /// The mode in which a label may fire.
    func mode(of label: Int) -> DetectionMode {
        modes.indices.contains(label) ? modes[label] : settings.mode
    }

    /// Whether a word, other than a long phrase, could fire in mode `command`, as far as the pauses around it decide: at this hop, or with
    /// lookahead at the next one.
    package func mayFireCommand(_ activity: ActivityHistory) -> Bool {
        inSpeech && isOpen && seconds(hop - utteranceStart) <= settings.longestUtterance
            && activity.quietSeconds >= settings.trailingSilence
    }

    func isTooLong(_ label: Int) -> Bool {
        seconds(hop - utteranceStart) > longestUtterance(label)
    }

    func longestUtterance(_ label: Int) -> Double {
        settings.longestUtterance + (extraDurations.indices.contains(label) ? extraDurations[label] : 0)
    }

    /// Notes that a word has fired by itself, so that it does not fire here too.
    mutating func disarm(_ label: Int) {
        (armed[label], firedAt[label]) = (false, hop)
        if pending?.label == label { pending = nil }
    }

    // Not inlined: it runs rarely, and is large compared with the rest of `step`.
    @inline(never)
    private mutating func fire(_ hit: Hit, _ activity: ActivityHistory) -> Detection {
        armed[hit.label] = false
        if settings.trigger == .early { pending = nil }
        firedAt[hit.label] = hop
        lastFire = hop
        isOpen = false
        disarm(rising: hit.label)
        let bounds = bounds(of: hit, activity)
        lastEnd = bounds.end
        return Detection(
            kind: .word,
            index: hit.label,
            confidence: hit.confidence,
            start: bounds.start,
            end: bounds.end,
            time: time,
            threshold: hit.threshold,
            mode: mode(of: hit.label)
        )
    }

    private func bounds(of hit: Hit, _ activity: ActivityHistory) -> WordBounds {
        // Beside talk there is no quiet around the word.
        if alone(hit.label) == nil, let contrast = standingOut(hit.label) {
            let end = time - contrast.quietAfter
            return WordBounds(start: max(0, min(time - contrast.seconds, end - 0.1)), end: end)
        }
        return WordBounds(
            won: time - seconds(hop - hit.firstHop),
            best: time - seconds(hop - hit.bestHop),
            after: lastEnd,
            now: time,
            activity
        )
    }

    /// Those of a word that has been ahead for some hops and has its best score now.
    func bounds(hopsAgo: Int, _ activity: ActivityHistory) -> WordBounds {
        bounds(of: Hit(label: 0, confidence: 0, threshold: 0, firstHop: hop - hopsAgo, bestHop: hop), activity)
    }

    func seconds(_ hops: Int) -> Double { Double(hops) * hopSeconds }
}
