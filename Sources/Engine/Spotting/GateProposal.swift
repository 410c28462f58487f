extension Gate {
    /// A candidate that qualified, at its best hop so far.
    struct Hit {
        let label: Int
        let confidence: Float
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
