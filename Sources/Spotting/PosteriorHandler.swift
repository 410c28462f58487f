import Inference

/// Posteriors in, detections out: smoother, gate and phrases, without network, audio or clock.
///
/// It is the deciding half of the ``Detector``. Posteriors that were kept can so be decided about again under other
/// settings, and what comes out is what the detector would have said. Nothing is allocated after `init`.
public struct PosteriorHandler {
    public private(set) var gate: Gate
    private var smoother: Smoother
    private var matcher: PhraseMatcher
    private var joiner: PosteriorFusion
    /// With the user's own words, where there are any.
    private var joined: [Float] = []
    private var ahead: [Float] = []
    private let hopSeconds: Double
    /// Hops since the stream began, flushes included.
    private var hops = 0
    /// End of the last word that fired, before which no later word can start.
    private var claimed = 0.0

    /// - Parameters:
    ///   - labels: how many posteriors a hop has.
    ///   - silence: index of the label that stands for silence.
    ///   - hopSeconds: time between two hops.
    public init(
        labels: Int,
        silence: Int,
        hopSeconds: Double,
        settings: GateSettings,
        thresholds: Thresholds,
        phrases: [Phrase] = []
    ) {
        smoother = Smoother(labels: labels, count: settings.smoothing, exponent: settings.smoothingExponent)
        gate = Gate(settings: settings, thresholds: thresholds, silence: silence, hopSeconds: hopSeconds)
        matcher = PhraseMatcher(phrases)
        joiner = PosteriorFusion(posteriors: labels, labels: labels, places: [])
        self.hopSeconds = hopSeconds
    }

    /// For the posteriors of a model and the user's own words.
    public init(_ vocabulary: Vocabulary, settings: GateSettings, thresholds: Thresholds, phrases: [Phrase] = []) {
        let posteriors = vocabulary.model.labels.count
        smoother = Smoother(labels: posteriors, count: settings.smoothing, exponent: settings.smoothingExponent)
        hopSeconds = HopScorer.hopSeconds(of: vocabulary.model)
        gate = Gate(
            settings: settings,
            thresholds: thresholds,
            silence: vocabulary.silenceIndex,
            hopSeconds: hopSeconds
        )
        gate.longer = vocabulary.longer
        matcher = PhraseMatcher(phrases)
        joiner = vocabulary.joiner
        joined = Self.room(for: joiner)
        ahead = joined
    }

    private static func room(for joiner: PosteriorFusion) -> [Float] {
        [Float](repeating: 0, count: joiner.places.isEmpty ? 0 : joiner.labels)
    }

    /// Decides by other rules from here on; what was heard and what has fired stays known. Allocates.
    public mutating func adopt(settings: GateSettings, thresholds: Thresholds, phrases: [Phrase]) {
        let old = gate.settings
        if (settings.smoothing, settings.smoothingExponent) != (old.smoothing, old.smoothingExponent) {
            smoother = Smoother(
                labels: joiner.posteriors,
                count: settings.smoothing,
                exponent: settings.smoothingExponent
            )
        }
        gate.settings = settings
        gate.thresholds = thresholds
        if phrases != matcher.phrases { matcher = PhraseMatcher(phrases) }
    }

    /// Takes posteriors of another model, or other words, from here on; what has fired stays known by its name. Allocates.
    mutating func adopt(_ vocabulary: Vocabulary, before: Vocabulary) {
        joiner = vocabulary.joiner
        joined = Self.room(for: joiner)
        ahead = joined
        if vocabulary.model.labels != before.model.labels {
            let settings = gate.settings
            smoother = Smoother(
                labels: joiner.posteriors,
                count: settings.smoothing,
                exponent: settings.smoothingExponent
            )
        }
        gate.longer = vocabulary.longer
        guard vocabulary.labels != before.labels else { return }
        gate.relabel(vocabulary.labels.map { before.labels.firstIndex(of: $0) }, silence: vocabulary.silenceIndex)
        matcher.flush()
    }

    /// The averages that the gate decides by, one a label.
    public var scores: [Float] { joined.isEmpty ? smoother.average : joined }

    /// Takes one hop in.
    ///
    /// - Parameters:
    ///   - answer: what was said of it.
    ///   - foreseen: what the next hop will bring if it stays quiet, where that is known.
    ///   - sound: where there was sound or speech, after this hop.
    ///   - report: called for each detection of this hop; a word comes before the phrases it moves.
    public mutating func add(
        _ answer: HopScores,
        foreseen: HopScores? = nil,
        sound: SoundActivity,
        report: (Detection) -> Void
    ) {
        smoother.add(answer.posteriors)
        // The user's own words come averaged.
        if !joined.isEmpty { joiner.join(smoother.average, answer.personal, into: &joined) }
        hops += 1
        let quiet = sound.quietSeconds
        guard let decision = gate.step(scores, quietSeconds: quiet) ?? decideAhead(foreseen, quiet) else {
            return
        }

        let now = Double(hops) * hopSeconds
        let bounds = bounds(of: decision, sound: sound, now: now)
        claimed = bounds.end
        let word = Detection(
            kind: .word,
            index: decision.label,
            confidence: decision.confidence,
            start: bounds.start,
            end: bounds.end,
            time: now
        )
        report(word)
        matcher.add(
            label: word.index,
            confidence: word.confidence,
            start: word.start,
            end: word.end,
            time: now
        ) { progress in
            report(
                Detection(
                    kind: progress.isComplete ? .phrase : .phrasePartial,
                    index: progress.phrase,
                    confidence: progress.confidence,
                    start: progress.start,
                    end: progress.end,
                    time: now
                )
            )
        }
    }

    private mutating func decideAhead(_ foreseen: HopScores?, _ quiet: Double) -> Gate.Decision? {
        guard let foreseen, gate.settings.foreseenQuiet?.contains(quiet) ?? false else { return nil }
        smoother.foresee(foreseen.posteriors)
        guard !joined.isEmpty else { return gate.foresee(smoother.foreseen) }
        joiner.join(smoother.foreseen, foreseen.personal, into: &ahead)
        return gate.foresee(ahead)
    }

    /// Forgets what was heard so far, as after a gap in the audio; time goes on.
    public mutating func flush() {
        smoother.flush()
        for label in joined.indices { joined[label] = 0 }
        gate.flush()
        matcher.flush()
    }

    /// The sound around the hops that the word won, cut where it reaches further than a word can.
    private func bounds(of decision: Gate.Decision, sound: SoundActivity, now: Double) -> (start: Double, end: Double) {
        let won = now - Double(gate.hop - decision.firstHop) * hopSeconds
        let best = now - Double(gate.hop - decision.bestHop) * hopSeconds
        // The first hop that the word won lies within it or just behind it; few command words last over 0.7 s.
        let earliest = max(0, won - 0.75, min(claimed, won - 0.2))
        // With the trigger at the end, what was said after the word is no part of it.
        guard let last = sound.lastSound(within: 1.5), now - last.start < best else {
            return (max(0, won - 0.5), won)
        }
        let end = min(now - last.end, best)
        return (max(0, min(max(now - last.start, earliest), end - 0.1)), end)
    }
}
