private import Core

// Wake words with models of their own, which decide by themselves and at their own times.
extension PosteriorHandler {
    /// The same with the newest scores of the wake words, which are no input of the gate. Allocates.
    public var scoresOfAll: [Float] {
        var all = scores
        setWakeWordScores(in: &all)
        return all
    }

    /// Sets the newest scores of the wake words among those of all labels. Allocates nothing.
    func setWakeWordScores(in scores: inout [Float]) {
        for index in wakeWords.indices where scores.indices.contains(wakeWords[index].label) {
            scores[wakeWords[index].label] = wakeWordScores[index]
        }
    }

    /// Adds a step of a wake word, whose network decides by itself and at its own time. Call it before the hop that the step ends in is
    /// processed.
    ///
    /// - Parameters:
    ///   - index: of the wake word in the vocabulary.
    ///   - score: of the word, 0…1; see `WakeWordDetector`.
    ///   - before: time from the end of the step to the end of the hop, in seconds.
    ///   - report: as in ``process(_:lookahead:activity:confirmer:report:)``.
    public mutating func add(wakeWord index: Int, score: Float, before: Double, report: (Detection) -> Void) {
        guard wakeWords.indices.contains(index) else { return }
        let (label, time) = (wakeWords[index].label, gate.nextTime - before)
        let threshold = gate.thresholds.values[label]
        wakeWordScores[index] = score
        let fires = wakeWords[index].step(score, threshold: threshold, time: time, refractory: gate.settings.refractory)
        if let margin = gate.settings.nearMissMargin {
            let miss = wakeWords[index].nearMiss(score, threshold: threshold, margin: margin, time: time)
            if let miss { nearMisses.add(nearMiss(miss, label: label), at: time) }
        }
        guard fires else { return }
        var word = Detection(
            kind: .word,
            index: label,
            confidence: score,
            start: max(0, time - WakeWordGate.seconds),
            end: time,
            time: time
        )
        word.threshold = threshold ?? 0
        word.mode = .spot
        nearMisses.note(word)
        add(word, report)
    }

    /// A wake word that nearly fired.
    private func nearMiss(_ miss: (score: Float, time: Double), label: Int) -> Detection {
        Detection(
            kind: .nearMiss,
            index: label,
            confidence: miss.score,
            start: max(0, miss.time - WakeWordGate.seconds),
            end: miss.time,
            time: miss.time,
            threshold: gate.thresholds.values[label] ?? 0,
            mode: .spot
        )
    }

    /// Notes near misses whose scores have not fallen yet, where the audio ends.
    mutating func finishWakeWords() {
        for index in wakeWords.indices {
            guard let miss = wakeWords[index].takeNearest() else { continue }
            nearMisses.add(nearMiss(miss, label: wakeWords[index].label), at: gate.time)
        }
    }
}
