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
    }

    /// A word that qualifies, if networks confirm it.
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
}
