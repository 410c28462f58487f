public import Core
private import Glibc
public import Phonemes
public import Spotting

/// The thresholds of a typed word, and what to expect of it: from ``PhonemeTalk``, and from how strangers said ten other words.
public struct TypedWordCalibration: Sendable {
    /// False accepts that each sensitivity aims at, in an hour of talk of which half is in noise.
    static let aims = (strict: 0.2, balanced: 0.8, eager: 2.5)
    /// No boundary is lower, but for written sounds, which are often of another language and heard less well. 90, 95 and 97 % are found at these. A
    /// stream sees each moment in several looks, so that long words reach −2.2 to −2.4 in noise more often than the stored talk shows.
    private static let lowest = (strict: -1.5, balanced: -1.9, eager: -2.3)
    /// Fewer false accepts an hour are not promised: the talk is too short to tell.
    private static let fewestTold = 0.1
    /// The nearest moments of the talk that tell how fast false accepts become fewer with the boundary.
    private static let tail = 12
    /// What is as near as this is the word itself, if it is long enough, and said so often at most: the talk may have it.
    private static let itself: Float = -0.4
    private static let sayings = 2
    private static let sureSounds = 6
    /// The least sounds of a word.
    public static let fewestSounds = 4
    /// A word that is found less often is refused, and one that is found less often than `poor` is warned of.
    public static let leastFound = 0.7
    public static let poor = 0.85

    /// What is expected with a sensitivity.
    public struct Expectation: Sendable, Equatable {
        public let sensitivity: Sensitivity
        /// The score of the boundary.
        public let score: Float
        public let falseAcceptsPerHour: Double
        /// Of clear utterances, the share that is found, 0…1.
        public let found: Double
    }

    /// From strict to eager.
    public let expected: [Expectation]
    /// Moments of the talk in which the word itself is said.
    public let sayings: [PhonemeTalk.Peak]
    /// The nearest moments of the talk besides.
    public let nearest: [PhonemeTalk.Peak]
    public let talkHours: Double

    /// The expectation with the sensitivity `balanced`.
    public var balanced: Expectation? { expected.first { $0.sensitivity == .balanced } }

    /// - Parameter isSpelled: whether the spelling gives the pronunciations; else they are written.
    public init(_ pronunciations: [Pronunciation], _ talk: PhonemeTalk, isSpelled: Bool = true) {
        let peaks = talk.peaks(of: pronunciations, count: Self.tail + Self.sayings + 1)
        let same = peaks.prefix { $0.score >= Self.itself }
        let isSure = pronunciations.allSatisfy { $0.sounds.count >= Self.sureSounds }
        sayings = isSure && same.count <= Self.sayings ? Array(same) : []
        nearest = Array(peaks.dropFirst(sayings.count).prefix(Self.tail))
        talkHours = talk.hours
        let scores = nearest.map { Double($0.score) }
        // Peaks above the lowest of these are taken to be exponentially distributed.
        let least = scores.last ?? -2
        let mean = scores.dropLast().reduce(0) { $0 + $1 - least } / Double(max(scores.count - 1, 1))
        let scale = max(mean, 0.02)
        let (aims, lowest) = (Self.aims, Self.lowest)
        let rates: [(Sensitivity, Double, Double)] = [
            (.strict, aims.strict, lowest.strict), (.balanced, aims.balanced, lowest.balanced),
            (.eager, aims.eager, lowest.eager),
        ]
        expected = rates.map { sensitivity, rate, lowest in
            let wanted = least + scale * log(Double(scores.count) / (rate * talk.hours))
            // Above the best score nothing is found.
            let score = min(isSpelled ? max(wanted, lowest) : wanted, -0.02)
            let told = Double(scores.count) / talk.hours * exp((least - score) / scale)
            return Expectation(
                sensitivity: sensitivity,
                score: Float(score),
                falseAcceptsPerHour: max(told, Self.fewestTold),
                found: Self.found(score)
            )
        }
    }

    /// The share of clear utterances of ten words by strangers with at least a score.
    static func found(_ score: Double) -> Double {
        let table = foundAt
        guard let above = table.firstIndex(where: { $0.score >= score }) else { return 0 }
        guard above > 0 else { return table[0].share }
        let (low, high) = (table[above - 1], table[above])
        return low.share + (high.share - low.share) * (score - low.score) / (high.score - low.score)
    }

    private static let foundAt: [(score: Double, share: Double)] = [
        (-3.6, 0.996), (-3.2, 0.993), (-2.8, 0.99), (-2.4, 0.98), (-2, 0.954), (-1.8, 0.938), (-1.6, 0.915),
        (-1.4, 0.874), (-1.2, 0.817), (-1, 0.725), (-0.8, 0.613), (-0.6, 0.428), (-0.4, 0.219), (-0.2, 0.002),
    ]

    /// The word with these thresholds.
    public func word(_ name: String, _ pronunciations: [Pronunciation]) -> TypedWord {
        let word = TypedWord(name: name, pronunciations: pronunciations, boundary: balanced?.score ?? 0)
        var sensitivities = SensitivityTable<Float>()
        for one in expected {
            let threshold = word.probability(one.score)
            for mode in DetectionMode.allCases { sensitivities[one.sensitivity, mode] = threshold }
        }
        return TypedWord(
            name: name,
            pronunciations: pronunciations,
            boundary: word.boundary,
            sensitivities: sensitivities
        )
    }
}
