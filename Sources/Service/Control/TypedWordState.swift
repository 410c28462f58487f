public import Core
public import JSON

/// A word that is being typed: how it is said and what to expect of it, before it is stored. A pure value.
public struct TypedWordState: Equatable, Sendable {
    /// What a sensitivity promises.
    public struct Expectation: Equatable, Sendable {
        public var sensitivity: Sensitivity
        /// The share of clear utterances that is found, 0…1.
        public var found: Double
        public var falseAcceptsPerHour: Double

        public init(sensitivity: Sensitivity, found: Double, falseAcceptsPerHour: Double) {
            (self.sensitivity, self.found, self.falseAcceptsPerHour) = (sensitivity, found, falseAcceptsPerHour)
        }
    }

    /// A way to say it.
    public struct Pronunciation: Equatable, Sendable {
        /// In IPA, with spaces between sounds.
        public var sounds: String
        /// Whether it can be played, as a take can.
        public var isPlayable: Bool

        public init(sounds: String, isPlayable: Bool) { (self.sounds, self.isPlayable) = (sounds, isPlayable) }
    }

    public var word: String
    public var pronunciations: [Pronunciation] = []
    /// From strict to eager.
    public var expected: [Expectation] = []
    /// What sounds nearest, and what else there is to say, a sentence each.
    public var remarks: [String] = []
    /// Why it cannot be stored, and what would help; nil if it can.
    public var refusal: String?
    /// Why nothing can be played; nil if something can.
    public var silence: String?

    public init(word: String) { self.word = word }

    public var json: JSON {
        [
            "word": .string(word),
            "pronunciations": .array(
                pronunciations.map { ["sounds": .string($0.sounds), "playable": .bool($0.isPlayable)] }
            ),
            "expected": .array(
                expected.map {
                    [
                        "sensitivity": .string($0.sensitivity.rawValue), "found": .number($0.found, places: 3),
                        "falseAcceptsPerHour": .number($0.falseAcceptsPerHour, places: 2),
                    ]
                }
            ),
            "remarks": .strings(remarks), "refusal": .optional(refusal), "silence": .optional(silence),
        ]
    }
}
