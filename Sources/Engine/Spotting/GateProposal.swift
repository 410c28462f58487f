private import Core

extension Gate {
    /// The scores of a word that is said alone: after quiet and before quiet.
    struct AloneLevels: Sendable, Equatable {
        /// The least that fires.
        let least: Float
        /// The least that fires at the first quiet after the word; a lower one waits for ``GateSettings/quietAfter``.
        let immediate: Float
    }

    /// A candidate that qualified, at its best hop so far.
    struct Hit {
        let label: Int
        let confidence: Float
        /// What the confidence had to reach.
        let threshold: Float
        let firstHop: Int
        let bestHop: Int
        /// It qualified because it is said alone.
        var isAlone = false
    }

    /// A word that qualifies, if a second look confirms it.
    public struct Proposal: Sendable {
        /// Estimated start and end of the word, in seconds.
        public let start: Double
        public let end: Double

        let hit: Hit

        init(_ hit: Hit, _ bounds: WordBounds) {
            self.hit = hit
            (start, end) = (bounds.start, bounds.end)
        }

        public var label: Int { hit.label }
        /// Its score.
        public var confidence: Float { hit.confidence }
        /// The middle of the word, in seconds.
        public var middle: Double { (start + end) / 2 }
    }

    /// The least score with which a label is proposed; nil for a label that fires without confirmation.
    func proposalLevel(_ label: Int) -> Float? {
        guard proposals.indices.contains(label), let level = proposals[label] else { return nil }
        return min(level, thresholds.values[label] ?? 1)
    }

    /// Whether a label is proposed, and does not fire at once.
    func isProposed(_ label: Int) -> Bool { proposals.indices.contains(label) && proposals[label] != nil }

    /// What the verdict on a proposed label has to reach; nil for one that may not fire.
    func threshold(of label: Int, for hit: Hit, quietSeconds: Double) -> Float? {
        guard label == hit.label, hit.isAlone || mode(of: label) == .command, let levels = alone(label) else {
            return thresholds.values[label]
        }
        let isOver = !inSpeech || quietAfter(label, quietSeconds) >= settings.quietAfter
        let level = isOver ? levels.least : levels.immediate
        return mode(of: label) == .command ? level : min(level, thresholds.values[label] ?? level)
    }

    /// The least score with which a label qualifies; nil for one that never does.
    func level(_ label: Int) -> Float? { thresholds.values[label].map { proposalLevel(label) ?? $0 } }
}
