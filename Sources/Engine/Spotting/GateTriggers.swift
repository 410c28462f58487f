import Core

// When a candidate that qualifies fires.

extension Gate {
    /// `Trigger.early`: the candidate as soon as it qualifies and, in `command` mode, quiet follows it.
    mutating func earlyHit(_ scores: [Float], quietSeconds: Double) -> Hit? {
        if let over = waitingHit(scores, quietSeconds: quietSeconds) { return over }
        guard let candidate else { return nil }
        let isCommand = mode(of: candidate.label) == .command
        if isCommand, quietAfter(candidate.label, quietSeconds) < settings.trailingSilence { return nil }
        guard let hit = hit(scores, streak: candidate.streak, quietSeconds: quietSeconds) else { return nil }
        if isCommand, !isProposed(hit.label), hit.confidence < alone(hit.label)?.immediate ?? 0 { return nil }
        return hit
    }

    /// `Trigger.early`: keeps the best hit of a word that is said alone, and returns it at the first quiet, or when the word is over if its
    /// score is low.
    private mutating func waitingHit(_ scores: [Float], quietSeconds: Double) -> Hit? {
        let now = aloneHit(scores, quietSeconds: quietSeconds)
        if let now, now.confidence > (pending?.confidence ?? 0) { pending = now }
        // A word that the second look refuses here stays pending, and is looked at once more when it is over.
        if let now, quietAfter(now.label, quietSeconds) >= settings.trailingSilence,
            isProposed(now.label) || now.confidence >= alone(now.label)?.immediate ?? 1
        {
            return now
        }
        guard let best = pending else { return nil }
        let quietSeconds = quietAfter(best.label, quietSeconds)
        guard seconds(hop - best.bestHop) - quietSeconds <= settings.longestRest else {
            pending = nil
            return nil
        }
        return commandHit(best, quietSeconds: quietSeconds)
    }

    /// Whether a label may be a word that is said alone, as far as the sound before it decides.
    func mayBeAlone(_ label: Int) -> Bool { isUtterance(label) || standingOut(label) != nil }

    private func isUtterance(_ label: Int) -> Bool { isOpen && !isTooLong(label) }

    /// `Trigger.end`: whether the sound after a word's best hop is no more than its rest, where no pause tells what belongs to it.
    func isWhole(_ best: Hit, quietSeconds: Double) -> Bool {
        isUtterance(best.label)
            || seconds(hop - best.bestHop) - quietAfter(best.label, quietSeconds) <= settings.longestRest
    }

    /// Seconds since the last sound of a word that is said alone.
    func quietAfter(_ label: Int, _ quietSeconds: Double) -> Double {
        max(quietSeconds, standingOut(label)?.quietAfter ?? 0)
    }

    /// The levels of a label where it is said alone; nil if it has none.
    func alone(_ label: Int) -> AloneLevels? { alone.indices.contains(label) ? alone[label] : nil }

    /// The pending hit, if its word is over and nothing follows it for `quietAfter`. Forgets it then, and where it became too long.
    private mutating func commandHit(_ best: Hit, quietSeconds: Double) -> Hit? {
        if inSpeech, !mayBeAlone(best.label) {
            pending = nil
            return nil
        }
        guard !inSpeech || quietSeconds >= settings.quietAfter else { return nil }
        pending = nil
        return best
    }

    /// `Trigger.end`: keeps the best hit of the word and returns it when the word is over.
    mutating func endHit(_ scores: [Float], quietSeconds: Double) -> Hit? {
        if let now = hit(scores, streak: candidate?.streak ?? 0, quietSeconds: quietSeconds),
            now.confidence > (pending?.confidence ?? 0) || now.label != pending?.label
        {
            let previous = pending
            pending = now
            if let previous, previous.label != now.label, mode(of: previous.label) == .spot { return previous }
        }
        guard let best = pending else { return nil }
        switch mode(of: best.label) {
        case .spot:
            guard !inSpeech || scores[best.label] < (level(best.label) ?? 1) else { return nil }
        case .command:
            guard isWhole(best, quietSeconds: quietSeconds) else {
                pending = nil
                return nil
            }
            return commandHit(best, quietSeconds: quietAfter(best.label, quietSeconds))
        }
        pending = nil
        return best
    }
}
