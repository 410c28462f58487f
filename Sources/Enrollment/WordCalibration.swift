public import Core
private import Glibc
private import Spotting

/// The similarity at which a word should fire, and the error rates to expect there.
///
/// Two distributions are estimated: the similarity of a further utterance of the word, from the similarities among its
/// takes, and the rate of false accepts above a similarity, from the talk of the ``NegativeSet``. The word fires
/// halfway between two similarities: the one with an acceptable rate of false accepts, and the one that nearly all
/// utterances reach. `boundary` is set so that the suggested threshold corresponds to the similarity at which the word
/// fires.
public struct WordCalibration: Sendable {
    /// Estimates at one threshold.
    public struct Rates: Sendable, Equatable {
        public let threshold: Float
        /// Share of utterances that are missed, 0…1.
        public let missed: Double
        /// False accepts in an hour of other people's talk, in each `DetectionMode`.
        public let spot: Double
        public let command: Double
    }

    /// Another word that is similar to this one.
    public struct Neighbour: Sendable, Equatable {
        public let name: String
        /// Mean similarity of its utterances, −1…1.
        public let similarity: Float
        /// Share of its utterances at which this word fires, 0…1.
        public let taken: Double
    }

    /// Acceptable false accepts per hour of talk, and the limit for a word whose takes differ much.
    private static let (acceptableRate, highestRate) = (0.4, 0.8)
    /// Range of the thresholds of sensitivities: a probability below it says nothing, one above it is hardly reached.
    private static let range: ClosedRange<Float> = 0.2...0.99

    /// Similarity at which the word's probability is 0.5; see ``PersonalWord``.
    public let boundary: Float
    /// Rates at ``WordStore/suggestedThreshold``.
    public let suggested: Rates
    /// Rates at a lower threshold, the suggested one and a higher one.
    public let rates: [Rates]
    /// The threshold of each sensitivity and mode, under `boundary`.
    public var sensitivities: SensitivityTable<Float> {
        sensitivities(threshold: suggested.threshold, boundary: boundary)
    }
    /// The similarity at which the word should fire under a sensitivity other than `balanced`.
    private let similarities: SensitivityTable<Float>
    /// Similarity of a further utterance of the word.
    private let said: SimilarityDistribution
    /// Similarities of other people's talk, and of the ends of what they say alone.
    private let talk, ends: PeaksOverThreshold
    /// The nearest of the model's words; nil if there is none.
    public let nearestBuiltIn: Neighbour?
    /// The nearest of the user's other words; nil if there is none.
    public let nearestOwn: Neighbour?

    /// - Parameter own: the user's other words.
    init(_ word: WordStore.Word, besides own: [WordStore.Word], negatives: NegativeSet) {
        let prototype = word.prototype
        let spacing = word.takes.first?.templateSpacing ?? 0
        let said = SimilarityDistribution(word.takes.indices.compactMap { word.similarity(ofTake: $0) })
        let talkHours = Double(negatives.talk.count) / negatives.hopsPerHour
        let talk = PeaksOverThreshold(negatives.talkSimilarities(prototype, spacing: spacing), hours: talkHours)
        let ends = PeaksOverThreshold(negatives.endSimilarities(prototype), hours: negatives.endHours)

        // Takes that differ much, such as takes of several voices, leave no room between the two similarities. More
        // false accepts are then the price for detecting the word.
        let acceptable = talk.value(rate: Self.acceptableRate)
        let reached = said.value(deviations: 2.3)
        let apart =
            reached > acceptable
            ? (acceptable + reached) / 2
            : max(ends.value(rate: Self.highestRate), min(acceptable, reached))
        // A word of the model in the user's voice must not fire on the model's other words.
        let others = negatives.words.filter { $0.name != word.name }.flatMap(\.vectors)
        let isBuiltIn = negatives.words.contains { $0.name == word.name }
        let least = isBuiltIn ? Self.top(others, prototype, share: 0.02) : -1
        let fire = max(apart, least)
        var similarities = SensitivityTable<Float>()
        for sensitivity in [Sensitivity.strict, .eager] {
            let rate = sensitivity.falseAcceptsPerHour
            let command = ends.value(rate: rate)
            similarities[sensitivity, .command] = max(command, least)
            similarities[sensitivity, .spot] = max(command, talk.value(rate: rate), least)
        }
        self.similarities = similarities
        let suggestedThreshold = WordStore.suggestedThreshold
        let boundary = fire - PersonalWord.margin(probability: suggestedThreshold)
        self.boundary = boundary
        (self.said, self.talk, self.ends) = (said, talk, ends)
        func rates(_ threshold: Float) -> Rates {
            Self.rates(threshold, boundary: boundary, said: said, talk: talk, ends: ends)
        }
        suggested = rates(suggestedThreshold)
        self.rates = [0.6, suggestedThreshold, 0.9].map(rates)

        func neighbour(_ name: String, _ takes: [[[Float]]]) -> Neighbour? {
            guard !prototype.isEmpty, !takes.isEmpty, name != word.name else { return nil }
            let similarities = takes.map { SoundAlike.similarity(of: $0, to: prototype) }
            return Neighbour(
                name: name,
                similarity: similarities.reduce(0, +) / Float(similarities.count),
                taken: Double(similarities.count { $0 > fire }) / Double(similarities.count)
            )
        }
        func nearest(_ neighbours: [Neighbour]) -> Neighbour? {
            neighbours.max { ($0.taken, $0.similarity) < ($1.taken, $1.similarity) }
        }
        nearestBuiltIn = nearest(negatives.words.compactMap { neighbour($0.name, $0.vectors.map { [$0] }) })
        nearestOwn = nearest(own.compactMap { neighbour($0.name, $0.takes.map(\.templates)) })
    }

    /// The rates at the threshold of a sensitivity in a mode; nil if it could not be estimated.
    public func rates(_ sensitivity: Sensitivity, _ mode: DetectionMode) -> Rates? {
        let threshold = sensitivities[sensitivity, mode] ?? (sensitivity == .balanced ? suggested.threshold : nil)
        return threshold.map { Self.rates($0, boundary: boundary, said: said, talk: talk, ends: ends) }
    }

    private static func rates(
        _ threshold: Float,
        boundary: Float,
        said: SimilarityDistribution,
        talk: PeaksOverThreshold,
        ends: PeaksOverThreshold
    ) -> Rates {
        let value = boundary + PersonalWord.margin(probability: threshold)
        let command = ends.rate(above: value)
        return Rates(
            threshold: threshold,
            missed: said.probability(below: value),
            spot: max(talk.rate(above: value), command),
            command: command
        )
    }

    /// The threshold of each sensitivity and mode.
    ///
    /// `balanced` is the word's own threshold, at which recall was weighed against false accepts too; `strict` is never
    /// below it and `eager` never above.
    ///
    /// - Parameters:
    ///   - threshold: the word's own.
    ///   - boundary: the similarity at which its probability is 0.5.
    func sensitivities(threshold: Float, boundary: Float) -> SensitivityTable<Float> {
        var table = SensitivityTable<Float>()
        for mode in DetectionMode.allCases {
            for sensitivity in Sensitivity.allCases {
                guard let similarity = similarities[sensitivity, mode] else { continue }
                let found = PersonalWord.probability(margin: similarity - boundary)
                let kept = sensitivity == .strict ? max(found, threshold) : min(found, threshold)
                table[sensitivity, mode] = min(max(kept, Self.range.lowerBound), Self.range.upperBound)
            }
        }
        return table
    }

    /// The similarity that `share` of the vectors exceed.
    private static func top(_ vectors: [[Float]], _ prototype: [[Float]], share: Double) -> Float {
        guard let last = prototype.first else { return -1 }
        let similarities = vectors.map { dot($0, last) }.sorted(by: >)
        return similarities.isEmpty ? -1 : similarities[Int(share * Double(similarities.count))]
    }
}

/// The rate at which a rare value is exceeded, estimated from the peaks found in some hours.
///
/// With u the lowest of the n ≤ 40 highest peaks in T hours and β the mean of their excess over u,
///
///     rate(x) = n / T · exp(−(x − u) / β)    for x ≥ u,
///
/// and below u the number of peaks above x, divided by T. Source: the peaks-over-threshold method of extreme-value theory with
/// an exponential tail.
struct PeaksOverThreshold: Sendable {
    /// Largest number of peaks from which the tail is estimated.
    private static let tailCount = 40

    /// Highest first, at most 200.
    private let peaks: [Float]
    private let hours: Double
    /// β: the rise in value by which the rate falls to 1 / e.
    private let scale: Double

    /// - Parameter peaks: highest first.
    init(_ peaks: [Float], hours: Double) {
        self.peaks = Array(peaks.prefix(200))
        self.hours = hours
        let tail = self.peaks.prefix(Self.tailCount)
        let least = tail.last ?? 0
        let mean = tail.reduce(0) { $0 + Double($1 - least) } / Double(max(1, tail.count - 1))
        scale = max(mean, 1e-3)
    }

    /// Times per hour that `value` is exceeded; 0 without peaks.
    func rate(above value: Float) -> Double {
        guard let least = peaks.prefix(Self.tailCount).last, hours > 0 else { return 0 }
        let count = Double(min(Self.tailCount, peaks.count))
        if value < least { return Double(peaks.count { $0 >= value }) / hours }
        return count / hours * exp(-Double(value - least) / scale)
    }

    /// The value that is exceeded `rate` times per hour; −1 without peaks.
    func value(rate: Double) -> Float {
        guard let least = peaks.prefix(Self.tailCount).last, hours > 0 else { return -1 }
        let count = Double(min(Self.tailCount, peaks.count))
        let wanted = rate * hours
        if wanted > count { return peaks[min(peaks.count - 1, Int(wanted))] }
        return least + Float(scale * log(count / max(wanted, 1e-9)))
    }
}

/// The similarity of one more utterance of a word to its takes, as a normal distribution.
///
/// Mean and variance of the takes are shrunk towards the usual values, which weigh as much as 2 and 4 takes.
private struct SimilarityDistribution {
    /// Measured over many words: between the mean for the same voice (0.94) and that for other voices (0.73).
    private static let usual = (mean: 0.83, deviation: 0.08)

    private let mean: Double
    private let deviation: Double

    /// - Parameter values: the similarity of each take to the others; none for a single take.
    init(_ values: [Float]) {
        let (usual, count) = (Self.usual, Double(values.count))
        let mean = (values.reduce(0) { $0 + Double($1) } + 2 * usual.mean) / (count + 2)
        let squares = values.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) }
        self.mean = mean
        deviation = ((squares + 4 * usual.deviation * usual.deviation) / (count + 4)).squareRoot()
    }

    /// Probability of a similarity below `value`: the normal distribution function.
    func probability(below value: Float) -> Double {
        0.5 * erfc((mean - Double(value)) / (deviation * 2.0.squareRoot()))
    }

    /// The similarity `deviations` standard deviations below the mean.
    func value(deviations: Double) -> Float { Float(mean - deviations * deviation) }
}
