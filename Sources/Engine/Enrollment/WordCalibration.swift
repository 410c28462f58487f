public import Core
private import Glibc
import Spotting

/// The similarities at which a word should fire, and the error rates to expect there.
///
/// Two distributions are estimated: the similarity of a further utterance of the word, from the similarities among its takes, and the
/// rate of false accepts above a similarity, from the talk of the ``NegativeSet``. Each sensitivity says how many false accepts are
/// acceptable, in each mode; the word fires at the similarity with that rate. `boundary` is set so that the suggested threshold is
/// that of the sensitivity `balanced` in mode `command`.
public struct WordCalibration: Sendable {
    /// Estimates at one threshold.
    public struct Rates: Sendable, Equatable {
        public let threshold: Float
        /// Share of utterances that are missed where the people of the takes say the word, 0…1.
        public let missed: Double
        /// The same where other people say it.
        public let missedOfOthers: Double
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

    /// How many false accepts other talk has for each in the talk of the negative set: above all, more words are said alone there. Measured
    /// over ten words by real people and 2.4 hours of talk.
    private static let otherTalk = 1.7
    /// Share of a sensitivity's false accepts per hour that is aimed at, for words that are said alone and for words anywhere; in mode
    /// `spot` both count.
    private static let (aimAlone, aimAnywhere) = (0.85, 0.5)
    /// Share of the utterances of one of the model's words, 0…1, from which it is taken for this word too often: two in three.
    public static let mostTaken = 0.65
    /// How much more similar the model's other words are in the user's voice than in those of the negative set. Measured with one speaker
    /// at three pitches: with it 0.2 to 0.8 % of clips of other words are taken for the word, without 0.5 to 1.7 %.
    private static let ownVoice: Float = 0.06
    /// Share of other people's utterances that are not like the word, 0…1: cut off, or in noise. Chosen with five takes.
    private static let unclear = 0.025
    /// Range of the thresholds of sensitivities: a probability below it says nothing, one above it is hardly reached.
    private static let range: ClosedRange<Float> = 0.2...0.99

    /// Similarity at which the word's probability by its templates is 0.5; see ``TaughtWord``.
    public let boundary: Float
    /// The second look at the word; nil for one that has none.
    public let look: WordStore.Look?
    /// Similarity at which the probability that is compared with thresholds is 0.5.
    private var firingBoundary: Float { look?.boundary ?? boundary }
    /// The threshold of each sensitivity and mode, under `boundary`.
    public var sensitivities: SensitivityTable<Float> {
        sensitivities(threshold: WordStore.suggestedThreshold, boundary: firingBoundary)
    }
    /// The similarity at which the word should fire.
    private let similarities: SensitivityTable<Float>
    /// Similarity of a further utterance of the word, by the people of the takes and by others.
    private let said, saidByOthers: SimilarityDistribution
    /// Similarities of other people's talk, and of the ends of what they say alone.
    private let talk, ends: PeaksOverThreshold
    /// The word's sounds beside its takes; nil for one without sounds. Rates are those of both.
    private let sounds: SoundsBesideTakes?
    /// How far the takes sound as the name is spelled, 0…1; nil for a word whose name is not read: one of the model's, a phrase.
    public let textAgreement: Float?
    /// The cosine between the takes and how the name sounds as it is spelled, −1…1; nil likewise.
    public let spelling: Float?
    /// The nearest of the model's words; nil if there is none.
    public let nearestBuiltIn: Neighbour?
    /// The nearest of the user's other words; nil if there is none.
    public let nearestOwn: Neighbour?

    /// - Parameter own: the user's other words.
    init(_ word: WordStore.Word, besides own: [WordStore.Word], negatives: NegativeSet) {
        let prototype = word.prototype
        spelling = word.spelling(negatives)
        let isBuiltIn = negatives.words.contains { $0.name == word.name }
        let byTemplates = negatives.similarities(to: word)
        // A word of the model in the user's voice has the score of both, at which there is no second look.
        let looks = isBuiltIn ? nil : negatives.looks(at: word, byTemplates)
        let similaritiesOfTakes = word.takes.indices.compactMap {
            looks == nil ? word.similarity(ofTake: $0) : word.lookedSimilarity(ofTake: $0)
        }
        said = SimilarityDistribution(similaritiesOfTakes)
        saidByOthers = SimilarityDistribution(
            ofOthers: similaritiesOfTakes,
            spelling: spelling,
            afterLook: looks != nil
        )

        // A word of the model in the user's voice must not fire on the model's other words. It has the model's thresholds, which are
        // the same in both modes.
        let others = negatives.words.filter { $0.name != word.name }.flatMap(\.takes)
        // Their examples are known by templates alone, so that they count as far from the takes as talk is.
        func counted(_ similarity: Float) -> Float {
            word.sequences.isEmpty
                ? similarity : TaughtWord.similarity(similarity, distance: NegativeSet.distanceOfTalk)
        }
        let least = isBuiltIn ? counted(Self.highest(others, prototype, word.alignment)) + Self.ownVoice : -1
        func table(_ talk: PeaksOverThreshold, _ ends: PeaksOverThreshold) -> SensitivityTable<Float> {
            var similarities = SensitivityTable<Float>()
            for sensitivity in Sensitivity.allCases {
                let rate = sensitivity.falseAcceptsPerHour
                let command = max(ends.value(rate: rate * Self.aimAlone / Self.otherTalk), least)
                let spot = max(command, talk.value(rate: rate * Self.aimAnywhere / Self.otherTalk))
                similarities[sensitivity, .command] = isBuiltIn ? spot : command
                similarities[sensitivity, .spot] = spot
            }
            return similarities
        }
        let margin = TaughtWord.margin(probability: WordStore.suggestedThreshold)
        let (talkByTemplates, endsByTemplates) = Self.peaks(byTemplates, negatives)
        let tableByTemplates = table(talkByTemplates, endsByTemplates)
        let fire = tableByTemplates[.balanced, .command] ?? least
        let boundary = fire - margin
        self.boundary = boundary
        if let looks {
            (talk, ends) = Self.peaks(looks.similarities, negatives)
            similarities = table(talk, ends)
            look = WordStore.Look(
                proposal: TaughtWord.probability(margin: looks.proposal - boundary),
                boundary: (similarities[.balanced, .command] ?? fire) - margin
            )
        } else {
            (talk, ends, similarities, look) = (talkByTemplates, endsByTemplates, tableByTemplates, nil)
        }
        let firing = look?.boundary ?? boundary
        var takes = SensitivityTable<Float>()
        for sensitivity in Sensitivity.allCases {
            takes[sensitivity, .command] = similarities[sensitivity, .command].map {
                Self.inRange(TaughtWord.probability(margin: $0 - firing))
            }
        }
        sounds = word.sounds.map {
            SoundsBesideTakes(
                boundary: $0.boundary,
                $0.sensitivities,
                takes: takes,
                threshold: WordStore.suggestedThreshold
            )
        }
        let (alignment, parts, partBoundary) = (word.alignment, word.parts, look?.boundary ?? boundary)
        textAgreement = word.textEncoder(negatives).map { _ in dot(word.text, word.text).squareRoot() }
        func neighbour(_ name: String, _ takes: [WordStore.Take]) -> Neighbour? {
            guard !prototype.isEmpty, !takes.isEmpty, name != word.name else { return nil }
            let similarities = takes.map { take in
                // As the detector has it: what is more like a part of a phrase is not the phrase.
                let ofParts = parts.map { SoundAlike.similarity(of: take, to: $0, alignment) }
                let said = SoundAlike.similarity(of: take, to: prototype, alignment)
                let margin = said - (ofParts.max() ?? -.infinity)
                return TaughtWord.similarity(said, partMargin: margin, boundary: partBoundary)
            }
            return Neighbour(
                name: name,
                similarity: similarities.reduce(0, +) / Float(similarities.count),
                taken: Double(similarities.count { counted($0) > fire }) / Double(similarities.count)
            )
        }
        func nearest(_ neighbours: [Neighbour]) -> Neighbour? {
            neighbours.max { ($0.taken, $0.similarity) < ($1.taken, $1.similarity) }
        }
        nearestBuiltIn = nearest(negatives.words.compactMap { neighbour($0.name, $0.takes) })
        nearestOwn = nearest(own.compactMap { neighbour($0.name, $0.takes) })
    }

    private static func peaks(
        _ similarities: NegativeSet.Similarities,
        _ negatives: NegativeSet
    ) -> (talk: PeaksOverThreshold, ends: PeaksOverThreshold) {
        (
            PeaksOverThreshold(similarities.anywhere, hours: negatives.hours, usualScale: similarities.usualScale),
            PeaksOverThreshold(similarities.alone, hours: negatives.hours, usualScale: similarities.usualScale)
        )
    }

    /// Rates at ``WordStore/suggestedThreshold``.
    public var suggested: Rates { rates(at: WordStore.suggestedThreshold) }
    /// Rates at a lower threshold, the suggested one and a higher one.
    public var rates: [Rates] { [0.6, WordStore.suggestedThreshold, 0.9].map(rates) }

    /// The rates at the threshold of a sensitivity in a mode; nil if it could not be estimated.
    public func rates(_ sensitivity: Sensitivity, _ mode: DetectionMode) -> Rates? {
        let table = sensitivities
        return table[sensitivity, mode].map { rates(at: $0, alone: table[sensitivity, .command] ?? $0) }
    }

    private func rates(at threshold: Float) -> Rates { rates(at: threshold, alone: threshold) }

    /// - Parameter alone: threshold of words that are said alone.
    private func rates(at threshold: Float, alone: Float) -> Rates {
        let value = firingBoundary + TaughtWord.margin(probability: alone)
        let anywhere = firingBoundary + TaughtWord.margin(probability: threshold)
        let (command, high) = (ends.rate(above: value), ends.rate(above: anywhere))
        let missed = said.probability(below: value)
        let missedOfOthers = Self.unclear + (1 - Self.unclear) * saidByOthers.probability(below: value)
        let bySounds = sounds?.falseAccepts(at: alone) ?? 0
        return Rates(
            threshold: threshold,
            missed: sounds?.missed(missed, at: alone) ?? missed,
            missedOfOthers: sounds?.missed(missedOfOthers, at: alone) ?? missedOfOthers,
            // Those said alone that reach the threshold of the others are among these.
            spot: Self.otherTalk * (max(talk.rate(above: anywhere), high) + command - high) + bySounds,
            command: Self.otherTalk * command + bySounds
        )
    }

    /// The threshold of each sensitivity and mode.
    ///
    /// - Parameters:
    ///   - threshold: the word's own, that of `balanced` in mode `command`; `strict` is never below it and `eager` never above.
    ///   - boundary: the similarity at which its probability is 0.5.
    func sensitivities(threshold: Float, boundary: Float) -> SensitivityTable<Float> {
        var table = SensitivityTable<Float>()
        for mode in DetectionMode.allCases {
            for sensitivity in Sensitivity.allCases {
                guard let similarity = similarities[sensitivity, mode] else { continue }
                let found = TaughtWord.probability(margin: similarity - boundary)
                let kept = sensitivity == .eager ? min(found, threshold) : max(found, threshold)
                table[sensitivity, mode] = Self.inRange(kept)
            }
        }
        return table
    }

    private static func inRange(_ threshold: Float) -> Float {
        min(max(threshold, range.lowerBound), range.upperBound)
    }

    /// The highest similarity of the takes; −1 without any.
    private static func highest(
        _ takes: [WordStore.Take],
        _ prototype: [[Float]],
        _ alignment: TemplateAlignment
    ) -> Float {
        takes.map { SoundAlike.similarity(of: $0, to: prototype, alignment) }.max() ?? -1
    }
}

/// The rate at which a rare value is exceeded, estimated from the peaks found in some hours.
///
/// With u the lowest of the n ≤ 10 highest peaks in T hours and β the mean of their excess over u,
///
///     rate(x) = n / T · exp(−(x − u) / β)    for x ≥ u,
///
/// and below u the number of peaks above x, divided by T. So few peaks say little about β, which is shrunk towards its mean over
/// many words. Source: the peaks-over-threshold method of extreme-value theory with an exponential tail.
struct PeaksOverThreshold: Sendable {
    /// Largest number of peaks from which the tail is estimated.
    private static let tailCount = 10
    /// The number of peaks that the usual β weighs as much as: with 20, at the same recall there are half of the false accepts that there
    /// are with none.
    private static let usualWeight = 20.0

    /// Highest first, at most 200.
    private let peaks: [Float]
    private let hours: Double
    /// β: the rise in value by which the rate falls to 1 / e.
    private let scale: Double

    /// - Parameters:
    ///   - peaks: highest first.
    ///   - usualScale: the usual β, the mean over many words.
    init(_ peaks: [Float], hours: Double, usualScale: Double) {
        self.peaks = Array(peaks.prefix(200))
        self.hours = hours
        let tail = self.peaks.prefix(Self.tailCount)
        let least = tail.last ?? 0
        let excess = tail.reduce(0) { $0 + Double($1 - least) }
        scale = (excess + Self.usualWeight * usualScale) / (Double(max(1, tail.count - 1)) + Self.usualWeight)
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
/// Mean and variance of the takes are shrunk towards usual values, which were measured over many words and weigh as much as some takes.
private struct SimilarityDistribution {
    private let mean: Double
    private let deviation: Double

    /// By the people of the takes.
    ///
    /// - Parameter values: the similarity of each take to the others; none for a single take.
    init(_ values: [Float]) {
        // Between the mean for the same voice (0.94) and that for other voices (0.73).
        let (usualMean, usualDeviation) = (0.83, 0.08)
        let count = Double(values.count)
        let mean = (Self.sum(values) + 2 * usualMean) / (count + 2)
        let squares = values.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) }
        self.mean = mean
        deviation = ((squares + 4 * usualDeviation * usualDeviation) / (count + 4)).squareRoot()
    }

    /// By other people, in other rooms: takes of one person say little about them.
    ///
    /// - Parameters:
    ///   - values: as above.
    ///   - spelling: cosine between the takes and how the name sounds; nil where that is not known.
    ///   - afterLook: whether the similarities are those after the second look.
    init(ofOthers values: [Float], spelling: Float?, afterLook: Bool) {
        guard values.isEmpty else {
            mean = (Self.sum(values) + 4 * 0.65) / (Double(values.count) + 4)
            deviation = 0.115
            return
        }
        // Of a single take the similarities are lower than of the mean of several; and it may be one as others do not say the word. Fitted
        // to 40 takes of ten words.
        let (least, slope, unknown) = afterLook ? (0.18, 0.7, 0.5) : (0.3, 0.5, 0.51)
        let known = spelling.flatMap { $0 < WordStore.Word.leastSpelling ? nil : Double($0) }
        mean = known.map { least + slope * $0 } ?? unknown
        deviation = afterLook ? 0.18 : 0.115
    }

    private static func sum(_ values: [Float]) -> Double { values.reduce(0) { $0 + Double($1) } }

    /// Probability of a similarity below `value`: the normal distribution function.
    func probability(below value: Float) -> Double {
        0.5 * erfc((mean - Double(value)) / (deviation * 2.0.squareRoot()))
    }
}
