import Core
import Inference

/// Turns the posteriors of each hop into detections: smoother, fusion, gate, phrase matcher and sessions.
///
/// The part of the ``Detector`` after the network. Stored posteriors can be processed again under other settings; the
/// detections are those that a detector with these settings would report. After `init`, only `update` allocates.
public struct PosteriorHandler {
    public private(set) var gate: Gate
    private var smoother: Smoother
    /// The newest score of each word that fires by itself.
    private var risen: [Float] = []
    /// What a loudspeaker said.
    var played = PlayedTimes()
    private var matcher: PhraseMatcher
    private(set) var machine: WakeSessionMachine
    /// Nil unless the settings have a margin.
    private var misses: NearMissTracker?
    /// The near misses of all kinds of words, and the detections that they must not be near to.
    private var nearMisses = NearMissFilter()
    private var proposed: ProposalMemory
    /// The rules without a session, then those of each session.
    private var rules: [SessionRules] = []
    /// Set by `flush()`: the end of the session that was on, to be reported at the next hop.
    private var flushed: WakeSessionMachine.Change?
    private var lookaheadQuiet: ClosedRange<Double>?
    private var fusion: PosteriorFusion
    /// Output of the fusion, `[labels]`, for the newest hop and for the next one; empty if all labels are the model's.
    private var fused: [Float] = []
    private var fusedAhead: [Float] = []
    /// The scores in which near misses are found, `[labels]`: of words that networks confirm, their newest verdict.
    private var missScores: [Float] = []
    /// What networks answered at the newest hop, if no word fired then; nil if they did not look.
    public private(set) var refusal: Verdict?
    /// Verdicts since the start.
    public private(set) var looks = 0
    /// Those after which no word fired.
    public private(set) var refusals = 0

    /// - Parameters:
    ///   - fusion: of the posteriors with the probabilities of taught words.
    ///   - silence: index of the silence label.
    ///   - hopSeconds: time from one hop to the next.
    ///   - hopSamples: samples of a hop.
    init(
        _ fusion: PosteriorFusion,
        silence: Int,
        hopSeconds: Double,
        hopSamples: Int = 1600,
        gate settings: GateSettings,
        thresholds: Thresholds,
        phrases: [Phrase] = [],
        sessions: [WakeSession] = []
    ) {
        proposed = ProposalMemory(hopSeconds: hopSeconds, hopSamples: hopSamples)
        self.fusion = fusion
        smoother = Smoother(fusion, settings)
        gate = Gate(settings: settings, thresholds: thresholds, silence: silence, hopSeconds: hopSeconds)
        matcher = PhraseMatcher(phrases)
        machine = WakeSessionMachine(sessions)
        makeBuffers()
        makeRules(settings, thresholds)
        makeMisses()
    }

    /// For the posteriors of the vocabulary's model and the probabilities of its taught words.
    public init(_ settings: DetectorSettings) {
        self.init(
            settings.vocabulary.fusion,
            silence: settings.vocabulary.silenceIndex,
            hopSeconds: HopScorer.hopSeconds(of: settings.vocabulary.model),
            hopSamples: settings.vocabulary.model.hopSamples,
            gate: settings.gate,
            thresholds: settings.thresholds,
            phrases: settings.phrases,
            sessions: settings.sessions
        )
        gate.extraDurations = settings.vocabulary.extraDurations
        played = PlayedTimes(settings)
        makeRising(settings.vocabulary, replacing: nil)
        makeProposals(settings.vocabulary, settings.gate.mode)
    }

    /// Hands the gate what may be proposed, if networks confirm.
    private mutating func makeProposals(_ vocabulary: Vocabulary, _ mode: DetectionMode) {
        confirm(words: vocabulary.proposals(mode: mode))
    }

    /// - Parameter proposals: of each label the least score that is proposed, `[labels]`; nil for one that needs no confirmation.
    mutating func confirm(words proposals: [Float?]) {
        gate.proposals = proposals
        missScores = [Float](repeating: 0, count: proposals.count)
        proposed.prepare(smoother.average)
    }

    private mutating func makeBuffers() {
        // Wake words have labels of their own too, whose scores stay 0: their networks decide.
        let isAlone = fusion.wordLabels.isEmpty && fusion.labels == fusion.modelLabels
        fused = [Float](repeating: 0, count: isAlone ? 0 : fusion.labels)
        fusedAhead = fused
    }

    private mutating func makeMisses() {
        let (labels, rising) = (gate.thresholds.values.count, gate.rising.count)
        misses = gate.settings.nearMissMargin.map {
            NearMissTracker(margin: $0, labels: labels, rising: rising, hopSeconds: proposed.hopSeconds)
        }
    }

    /// - Parameter old: the vocabulary until now, whose words keep their state.
    private mutating func makeRising(_ vocabulary: Vocabulary, replacing old: Vocabulary?) {
        let former = gate.rising
        gate.rising = vocabulary.risingLabels.map { label in
            var word =
                former.first { old?.labels[$0.label] == vocabulary.labels[label] } ?? Gate.RisingWord(label: label)
            (word.label, word.isGated) = (label, fusion.wordLabels.contains(label))
            return word
        }
        risen = [Float](repeating: 0, count: gate.rising.count)
        makeMisses()
    }

    /// Computes the rules of all sessions, so that a change of the session allocates nothing.
    private mutating func makeRules(_ settings: GateSettings, _ thresholds: Thresholds) {
        let sessions = machine.sessions
        lookaheadQuiet = settings.lookaheadQuiet(with: sessions)
        rules = ([nil] + sessions.map(Optional.some)).map { current in
            SessionRules(
                thresholds,
                mode: settings.mode,
                sessions: sessions,
                current: current,
                taught: fusion.ownLabels
            )
        }
        applyRules()
    }

    /// Hands the gate the rules of the session that is on.
    private mutating func applyRules() {
        var index = 0
        if let current = machine.current { index = current + 1 }
        gate.thresholds = rules[index].thresholds
        gate.modes = rules[index].modes
        gate.alone = rules[index].alone
    }

    /// Applies new settings from the next hop on; the state of the stream is kept, and words that are refractory stay
    /// refractory, by name. Allocates.
    ///
    /// - Parameter old: the vocabulary until now.
    /// - Returns: the end of the session that was on, if it is not among the new ones; its index is the one among the old ones.
    mutating func update(_ new: DetectorSettings, replacing old: Vocabulary) -> Detection? {
        if new.vocabulary !== old { update(new.vocabulary, replacing: old) }
        let former = gate.settings
        gate.settings = new.gate
        makeProposals(new.vocabulary, new.gate.mode)
        let lost = machine.replace(by: new.sessions) ?? flushed
        flushed = nil
        played = PlayedTimes(new)
        makeRules(new.gate, new.thresholds)
        if (new.gate.smoothing, new.gate.smoothingExponent) != (former.smoothing, former.smoothingExponent) {
            smoother = Smoother(fusion, new.gate)
        }
        if new.phrases != matcher.phrases { matcher = PhraseMatcher(new.phrases) }
        if new.gate.nearMissMargin != former.nearMissMargin || misses?.labels != new.thresholds.values.count {
            makeMisses()
            nearMisses.flush()
        }
        return lost.map { Self.detection(of: $0, by: nil, time: gate.nextTime) }
    }

    private mutating func update(_ vocabulary: Vocabulary, replacing old: Vocabulary) {
        fusion = vocabulary.fusion
        makeBuffers()
        if vocabulary.model.labels != old.model.labels { smoother = Smoother(fusion, gate.settings) }
        gate.extraDurations = vocabulary.extraDurations
        let isSame =
            vocabulary.risingLabels.map { vocabulary.labels[$0] } == old.risingLabels.map { old.labels[$0] }
            && vocabulary.risingLabels.map(fusion.wordLabels.contains) == gate.rising.map(\.isGated)
        if !isSame || vocabulary.labels != old.labels { makeRising(vocabulary, replacing: old) }
        guard vocabulary.labels != old.labels else { return }
        // A near miss has the index of its label.
        nearMisses.flush()
        gate.relabel(vocabulary.labels.map { old.labels.firstIndex(of: $0) }, silence: vocabulary.silenceIndex)
        matcher.flush()
    }

    /// Smoothed posteriors after the newest hop, `[labels]`: the input of the gate.
    public var scores: [Float] { fused.isEmpty ? smoother.average : fused }

    /// The same with the newest scores of the words that fire by themselves, which are no input of the gate. Allocates.
    public var scoresOfAll: [Float] {
        var all = scores
        setRisingScores(in: &all)
        return all
    }

    /// Sets the newest scores of the words that fire by themselves among those of all labels. Allocates nothing.
    func setRisingScores(in scores: inout [Float]) {
        for word in risen.indices where scores.indices.contains(gate.rising[word].label) {
            let label = gate.rising[word].label
            scores[label] = max(risen[word], gate.rising[word].isGated ? scores[label] : 0)
        }
    }

    /// Processes one hop.
    ///
    /// - Parameters:
    ///   - scores: scores of the hop.
    ///   - lookahead: scores that the next hop will have if it stays quiet; nil where they were not computed.
    ///   - activity: speech or sound up to and including this hop.
    ///   - looks: what looks at proposals; without it, nothing that is proposed fires.
    ///   - report: called for each detection of this hop: words that fire by themselves, with what follows from them; the end of a session whose seconds are over; a near miss; then a word, the
    ///     phrases that it advances, and the session that it ends or starts.
    public mutating func process(
        _ scores: HopScores,
        lookahead: HopScores? = nil,
        activity: ActivityHistory,
        looks: (any ProposalLook)? = nil,
        report: (Detection) -> Void
    ) {
        played.hear(scores.played, fusion, at: gate.nextTime)
        for step in scores.words.steps { add(step, report) }
        for word in gate.rising.indices where gate.rising[word].proposal != nil { confirm(rising: word, looks, report) }
        if !machine.sessions.isEmpty { advanceSession(activity, report) }
        smoother.add(scores.posteriors)
        // Probabilities of taught words need no smoothing: they are averages already.
        if !fused.isEmpty { fusion.fuse(smoother.average, scores.words.probabilities, into: &fused) }
        refusal = nil
        var detection = gate.step(self.scores, activity: activity)
        proposed.note(scores, self.scores, gate, fusion)
        if gate.proposal != nil {
            detection = confirm(proposed.posteriors(gate, newest: smoother.average), activity, looks)
        } else if detection == nil, let lookahead {
            detection = decideAhead(lookahead, activity)
            if gate.proposal != nil {
                proposed.note(lookahead, fusedAhead, gate, fusion)
                detection = confirm(smoother.lookahead, activity, looks)
            }
        }
        proposed.keep(smoother.average, gate)
        if misses != nil {
            if let detection { nearMisses.note(detection) }
            let scores = scoresOfMisses()
            misses?.step(scores, gate: gate, hasFired: detection != nil, activity: activity, &nearMisses)
            if let miss = nearMisses.take(at: gate.time) { report(miss.inSession(machine.session(of: miss.index))) }
        }
        if let detection { add(detection, report) }
    }

    /// Decides what is pending where the audio ends; see ``Gate/finish(activity:)``.
    ///
    /// - Parameters:
    ///   - activity: as given to the last ``process(_:lookahead:activity:looks:report:)``.
    ///   - report: as there.
    ///   - looks: as there.
    public mutating func finish(
        activity: ActivityHistory,
        looks: (any ProposalLook)? = nil,
        report: (Detection) -> Void
    ) {
        refusal = nil
        var detection = gate.finish(activity: activity)
        if gate.proposal != nil {
            detection = confirm(proposed.posteriors(gate, newest: smoother.average), activity, looks)
        }
        if misses != nil {
            if let detection { nearMisses.note(detection) }
            misses?.finish(gate: gate, hasFired: detection != nil, &nearMisses)
            let miss = nearMisses.take(at: gate.time, isEnd: true)
            if let miss { report(miss.inSession(machine.session(of: miss.index))) }
        }
        if let detection { add(detection, report) }
    }

    /// Has the gate's proposal looked at, and takes the verdict to the gate.
    private mutating func confirm(
        _ posteriors: [Float],
        _ activity: ActivityHistory,
        _ look: (any ProposalLook)?
    ) -> Detection? {
        guard let proposal = gate.proposal, let look else { return nil }
        looks += 1
        let verdict = look.look(proposed.word(proposal, gate), posteriors)
        let detection = gate.confirm(verdict, activity: activity)
        if detection == nil {
            refusal = verdict
            refusals += 1
        }
        return detection
    }

    /// Has the proposal of a word that fires by itself looked at.
    private mutating func confirm(
        rising word: Int,
        _ look: (any ProposalLook)?,
        _ report: (Detection) -> Void
    ) {
        guard let proposal = gate.rising[word].proposal else { return }
        var verdict: Verdict?
        if let look {
            looks += 1
            verdict = look.look(proposed.word(proposal, endingAt: gate.nextTime), smoother.average)
        }
        guard let found = gate.confirm(rising: word, verdict) else {
            refusals += 1
            return
        }
        nearMisses.note(found)
        add(found, report)
    }

    /// What is compared with thresholds to find near misses.
    private mutating func scoresOfMisses() -> [Float] {
        guard !missScores.isEmpty else { return scores }
        let scores = self.scores
        for label in missScores.indices { missScores[label] = gate.proposals[label] == nil ? scores[label] : 0 }
        if let refusal { missScores[refusal.label] = refusal.confidence }
        return missScores
    }

    /// Adds a step of a word that fires by itself.
    private mutating func add(_ step: WordStep, _ report: (Detection) -> Void) {
        guard gate.rising.indices.contains(step.word) else { return }
        let time = gate.nextTime - step.before
        risen[step.word] = step.score
        let word = gate.rise(step.word, step.score, at: time)
        misses?.rise(step.word, step.score, at: time, gate: gate, &nearMisses)
        guard let word else { return }
        nearMisses.note(word)
        add(word, report)
    }

    /// Reports a word, the phrases that it advances, and the session that it ends or starts.
    mutating func add(_ found: Detection, _ report: (Detection) -> Void) {
        guard machine.admits(found) else { return }
        let word = played.marking(found.inSession(machine.session(of: found.index)))
        report(word)
        matcher.add(word) { progress in
            var phrase = Detection(
                kind: progress.isComplete ? .phrase : .phrasePartial,
                index: progress.phrase,
                confidence: progress.confidence,
                start: progress.start,
                end: progress.end,
                time: word.time
            )
            phrase.isOwnSpeech = played.hasPart(since: progress.start)
            report(phrase)
        }
        // What a loudspeaker says neither begins a session nor ends one.
        guard !machine.sessions.isEmpty, !word.isOwnSpeech else { return }
        machine.add(word) { change in report(Self.detection(of: change, by: word, time: word.time)) }
        applyRules()
    }

    /// Ends the session whose seconds are over, or from which audio is missing.
    private mutating func advanceSession(_ activity: ActivityHistory, _ report: (Detection) -> Void) {
        let time = gate.nextTime
        let change = flushed ?? machine.advance(to: time, activity: activity)
        flushed = nil
        guard let change else { return }
        report(Self.detection(of: change, by: nil, time: time))
        applyRules()
    }

    /// - Parameter word: the word that caused the change; nil for none.
    private static func detection(of change: WakeSessionMachine.Change, by word: Detection?, time: Double) -> Detection
    {
        let (kind, index): (Detection.Kind, Int) =
            switch change {
            case .started(let index): (.sessionStart, index)
            case .ended(let index): (.sessionEnd, index)
            case .timedOut(let index): (.sessionTimeout, index)
            }
        return Detection(
            kind: kind,
            index: index,
            confidence: word?.confidence ?? 0,
            start: word?.start ?? time,
            end: word?.end ?? time,
            time: time
        )
    }

    private mutating func decideAhead(_ lookahead: HopScores, _ activity: ActivityHistory) -> Detection? {
        guard lookaheadQuiet?.contains(activity.quietSeconds) ?? false else { return nil }
        smoother.lookAhead(lookahead.posteriors)
        guard !fused.isEmpty else { return gate.lookAhead(smoother.lookahead, activity: activity) }
        fusion.fuse(smoother.lookahead, lookahead.words.probabilities, into: &fusedAhead)
        return gate.lookAhead(fusedAhead, activity: activity)
    }

    /// Resets all but the stream's time, for example after a gap in the audio.
    public mutating func flush() {
        smoother.flush()
        for label in fused.indices { fused[label] = 0 }
        gate.flush()
        proposed.flush()
        misses?.flush()
        nearMisses.flush()
        played.flush()
        matcher.flush()
        flushed = machine.end() ?? flushed
        applyRules()
    }
}

extension Smoother {
    /// For the model's posteriors.
    init(_ fusion: PosteriorFusion, _ settings: GateSettings) {
        self.init(labels: fusion.modelLabels, count: settings.smoothing, exponent: settings.smoothingExponent)
    }
}
