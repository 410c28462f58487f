public import Inference

/// Audio windows in, detections out: network, smoother, gate and phrases as one stream.
///
/// The same detector serves files and microphones. It knows no clock: time is counted in hops.
public struct Detector: ~Copyable {
    /// Labels and phrases, for the names of detections.
    public let labels: [String]
    public let phrases: [Phrase]

    private var session: Session
    private var smoother: Smoother
    private var sound = SoundTracker()
    private var gate: Gate
    private var matcher: PhraseMatcher
    private let hopSamples: Int
    private let hopSeconds: Double
    /// Hops since the stream began, flushes included.
    private var hops = 0
    /// End of the last word that fired, before which no later word can start.
    private var claimed = 0.0

    public init(model: Model, settings: GateSettings, thresholds: Thresholds, phrases: [Phrase] = []) {
        labels = model.labels
        self.phrases = phrases
        session = Session(model)
        smoother = Smoother(
            labels: model.labels.count,
            count: settings.smoothing,
            exponent: settings.smoothingExponent
        )
        hopSamples = model.hopSamples
        hopSeconds = Double(model.hopSamples) / Double(model.sampleRate)
        gate = Gate(
            settings: settings,
            thresholds: thresholds,
            silence: model.silenceIndex,
            hopSeconds: hopSeconds
        )
        matcher = PhraseMatcher(phrases)
    }

    /// Hears one hop more.
    ///
    /// - Parameters:
    ///   - window: the last second, 16000 samples in [−1, 1], its last 1600 new since the call before.
    ///   - report: called for each detection of this hop; a word comes before the phrases it moves.
    public mutating func hear(window: Span<Float>, report: (Detection) -> Void) {
        session.score(window: window)
        smoother.add(session.posteriors)
        sound.add(window.extracting(last: hopSamples))
        hops += 1
        guard let decision = gate.step(smoother.average, quietSeconds: sound.quietSeconds) else { return }

        let now = Double(hops) * hopSeconds
        let bounds = bounds(of: decision, now: now)
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

    /// Forgets the audio heard so far: after a gap, a resume or a change of device, so that nothing old fires.
    public mutating func flush() {
        session.reset()
        smoother.flush()
        sound.flush()
        gate.flush()
        matcher.flush()
    }

    /// What a detection is called.
    public func name(of detection: Detection) -> String {
        switch detection.kind {
        case .word: labels.indices.contains(detection.index) ? labels[detection.index] : ""
        case .phrase, .phrasePartial: phrases.indices.contains(detection.index) ? phrases[detection.index].name : ""
        }
    }

    /// The sound around the hops that the word won, cut where it reaches further than a word can.
    private func bounds(of decision: Gate.Decision, now: Double) -> (start: Double, end: Double) {
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
