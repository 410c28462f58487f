import Inference

/// Turns the posteriors of each hop into detections: smoother, fusion, gate and phrase matcher.
///
/// The part of the ``Detector`` after the network. Stored posteriors can be processed again under other settings; the
/// detections are those that a detector with these settings would report. After `init`, only `apply` allocates.
public struct PosteriorHandler {
    public private(set) var gate: Gate
    private var smoother: Smoother
    private var matcher: PhraseMatcher
    private var fusion: PosteriorFusion
    /// Output of the fusion, `[labels]`, for the newest hop and for the next one; empty without personal words.
    private var fused: [Float] = []
    private var fusedAhead: [Float] = []

    /// - Parameters:
    ///   - labels: number of posteriors of a hop.
    ///   - silence: index of the silence label.
    ///   - hopSeconds: time from one hop to the next.
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
        fusion = PosteriorFusion(modelLabels: labels, labels: labels, wordLabels: [])
    }

    /// For the posteriors of a vocabulary's model and the probabilities of its personal words.
    public init(_ vocabulary: Vocabulary, settings: GateSettings, thresholds: Thresholds, phrases: [Phrase] = []) {
        let labels = vocabulary.model.labels.count
        smoother = Smoother(labels: labels, count: settings.smoothing, exponent: settings.smoothingExponent)
        gate = Gate(
            settings: settings,
            thresholds: thresholds,
            silence: vocabulary.silenceIndex,
            hopSeconds: HopScorer.hopSeconds(of: vocabulary.model)
        )
        gate.extraDurations = vocabulary.extraDurations
        matcher = PhraseMatcher(phrases)
        fusion = vocabulary.fusion
        fused = Self.buffer(for: fusion)
        fusedAhead = fused
    }

    private static func buffer(for fusion: PosteriorFusion) -> [Float] {
        [Float](repeating: 0, count: fusion.wordLabels.isEmpty ? 0 : fusion.labels)
    }

    private mutating func makeSmoother() {
        let settings = gate.settings
        smoother = Smoother(
            labels: fusion.modelLabels,
            count: settings.smoothing,
            exponent: settings.smoothingExponent
        )
    }

    /// Applies new settings from the next hop on; the state of the stream is kept. Allocates.
    public mutating func apply(settings: GateSettings, thresholds: Thresholds, phrases: [Phrase]) {
        let old = gate.settings
        gate.settings = settings
        gate.thresholds = thresholds
        if (settings.smoothing, settings.smoothingExponent) != (old.smoothing, old.smoothingExponent) {
            makeSmoother()
        }
        if phrases != matcher.phrases { matcher = PhraseMatcher(phrases) }
    }

    /// Switches to another model or other words; words that are refractory stay refractory, by name. Allocates.
    mutating func apply(_ vocabulary: Vocabulary, replacing old: Vocabulary) {
        fusion = vocabulary.fusion
        fused = Self.buffer(for: fusion)
        fusedAhead = fused
        if vocabulary.model.labels != old.model.labels { makeSmoother() }
        gate.extraDurations = vocabulary.extraDurations
        guard vocabulary.labels != old.labels else { return }
        gate.relabel(vocabulary.labels.map { old.labels.firstIndex(of: $0) }, silence: vocabulary.silenceIndex)
        matcher.flush()
    }

    /// Smoothed posteriors after the newest hop, `[labels]`: the input of the gate.
    public var scores: [Float] { fused.isEmpty ? smoother.average : fused }

    /// Processes one hop.
    ///
    /// - Parameters:
    ///   - scores: scores of the hop.
    ///   - lookahead: scores that the next hop will have if it stays quiet; nil where they were not computed.
    ///   - activity: speech or sound up to and including this hop.
    ///   - report: called for each detection of this hop: a word first, then the phrases that it advances.
    public mutating func process(
        _ scores: HopScores,
        lookahead: HopScores? = nil,
        activity: ActivityHistory,
        report: (Detection) -> Void
    ) {
        smoother.add(scores.posteriors)
        // Probabilities of personal words need no smoothing: they are averages already.
        if !fused.isEmpty { fusion.fuse(smoother.average, scores.personal, into: &fused) }
        var detection = gate.step(self.scores, activity: activity)
        if detection == nil, let lookahead { detection = decideAhead(lookahead, activity) }
        guard let word = detection else { return }
        report(word)
        matcher.add(word) { progress in
            report(
                Detection(
                    kind: progress.isComplete ? .phrase : .phrasePartial,
                    index: progress.phrase,
                    confidence: progress.confidence,
                    start: progress.start,
                    end: progress.end,
                    time: word.time
                )
            )
        }
    }

    private mutating func decideAhead(_ lookahead: HopScores, _ activity: ActivityHistory) -> Detection? {
        guard gate.settings.lookaheadQuiet?.contains(activity.quietSeconds) ?? false else { return nil }
        smoother.lookAhead(lookahead.posteriors)
        guard !fused.isEmpty else { return gate.lookAhead(smoother.lookahead, activity: activity) }
        fusion.fuse(smoother.lookahead, lookahead.personal, into: &fusedAhead)
        return gate.lookAhead(fusedAhead, activity: activity)
    }

    /// Resets all but the stream's time, for example after a gap in the audio.
    public mutating func flush() {
        smoother.flush()
        for label in fused.indices { fused[label] = 0 }
        gate.flush()
        matcher.flush()
    }
}
