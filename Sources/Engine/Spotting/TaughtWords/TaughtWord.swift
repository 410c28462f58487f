public import Core
private import Glibc

/// A word that the user taught, as a detector recognises it: templates in the model's embedding space.
public struct TaughtWord: Sendable, Equatable {
    /// Slope of the logistic curve from similarity to probability: from 10 % to 90 % within a similarity of 0.44, flat
    /// enough for thresholds to make a difference.
    static let slope: Float = 10

    /// Similarity minus `boundary` at which a word has the probability p: ln(p / (1 − p)) / slope, for 0 < p < 1.
    public static func margin(probability: Float) -> Float { logOdds(probability) / slope }

    /// The inverse of ``margin(probability:)``.
    public static func probability(margin: Float) -> Float { 1 / (1 + expf(-margin * slope)) }

    /// How much more similar than its threshold asks a word must be to fire in mode `command` at the first quiet after it. A less similar
    /// one waits for ``GateSettings/quietAfter``, which the beginning of a sentence does not have. Over ten words by real people, five
    /// takes of others: at equal false accepts 1.3 points more than without; 0.03 to 0.1 are alike.
    public static let immediateMargin: Float = 0.06

    /// The probability at which such a word fires at once.
    static func immediateThreshold(_ threshold: Float) -> Float {
        probability(margin: margin(probability: threshold) + immediateMargin)
    }

    /// One of the model's words, which is then recognised in the user's voice too, or any other name.
    public let name: String
    /// Least probability at which it fires, 0…1.
    public let threshold: Float
    /// Thresholds for sensitivities and modes, as far as they could be estimated.
    public let sensitivities: SensitivityTable<Float>
    /// `[templates × dimensions]`: the embedding at the word's end, then those before it.
    public let templates: [[Float]]
    /// Where in time the templates lie.
    public let alignment: TemplateAlignment
    /// Similarity, −1…1, at which the probability is 0.5.
    public let boundary: Float
    /// What is not the word, though it is like it: vectors to compare with as with `templates`, `[n × templates × dimensions]`.
    public let negatives: [[[Float]]]

    /// The parts of a phrase, said alone: vectors to compare with as with `templates`, `[parts × templates × dimensions]`. Of each gap
    /// between words what is before it, then what is after it.
    public let parts: [[[Float]]]
    /// Takes from their beginning to their end, `[takes × hops × dimensions]`: what is said is aligned with each. None for a word whose
    /// takes have no recordings.
    public let sequences: [[[Float]]]
    /// Its takes for the second look; nil for a word that fires without one.
    public let speech: SpeechTakes?

    /// Most sequences, and most hops of one.
    public static let (mostSequences, mostHops) = (8, 14)
    /// How much of the mean distance to the sequences is taken from the similarity, and the mean distance of the same word by other
    /// people, which leaves the similarity as it is; talk that is nearly as similar has 0.68. Over the ten words on which they were
    /// chosen, five takes of others, 0.2 to 0.35 are alike: at equal false accepts 0.9 points more in mode `spot`, 0.3 in `command`.
    private static let (sequenceWeight, usualDistance): (Float, Float) = (0.25, 0.4)

    /// A phrase that is as similar to one of its parts as to its takes counts as `boundary` and so much more; where it is more similar
    /// to the part, its similarity falls twice as fast. Chosen by 43 times "computer" and ten times "hey computer" by real people, before
    /// there was a second look: from 0.25 to 0.4 one or none of the former is found, and nearly as many of the latter as without parts.
    private static let (partAllowance, partWeight): (Float, Float) = (0.3, 2)
    /// Weight of a negative: the word's similarity counts as `boundary` where it is that of the negative, and rises twice as fast.
    private static let negativeWeight: Float = 2

    /// - Returns: nil without templates, with templates of different lengths, or beyond ``TemplateAlignment/longestReach``.
    public init?(
        name: String,
        threshold: Float,
        sensitivities: SensitivityTable<Float> = SensitivityTable(),
        templates: [[Float]],
        templateSpacing: Int,
        boundary: Float,
        negatives: [[[Float]]] = [],
        parts: [[[Float]]] = [],
        sequences: [[[Float]]] = [],
        speech: SpeechTakes? = nil
    ) {
        guard let first = templates.first, !first.isEmpty, templates.allSatisfy({ $0.count == first.count }),
            templateSpacing >= 0, (templates.count - 1) * (templateSpacing + 1) < TemplateAlignment.longestReach
        else { return nil }
        self.name = name
        self.threshold = threshold
        self.sensitivities = sensitivities
        self.templates = templates
        alignment = TemplateAlignment(count: templates.count, spacing: templateSpacing)
        self.boundary = boundary
        self.speech = speech
        func alike(_ vectors: [[Float]]) -> Bool {
            vectors.count == templates.count && vectors.allSatisfy { $0.count == first.count }
        }
        self.negatives = negatives.filter(alike)
        self.parts = parts.allSatisfy(alike) ? parts : []
        self.sequences = sequences.prefix(Self.mostSequences).map { Array($0.suffix(Self.mostHops)) }.filter {
            !$0.isEmpty && $0.allSatisfy { $0.count == first.count }
        }
    }

    /// The similarity that counts, beside the most similar negative.
    public func similarity(_ said: Float, besides negative: Float) -> Float {
        Self.similarity(said, besides: negative, boundary: negativeBoundary)
    }

    /// What the similarity counts as where a negative is as similar as the takes. For a word with a second look, which does not know the
    /// negatives, it is below what is looked at.
    var negativeBoundary: Float {
        speech.map { boundary + Self.margin(probability: max($0.proposal, 1e-3)) - Self.belowProposal } ?? boundary
    }
    private static let belowProposal: Float = 0.1

    /// Similarity that a part of a phrase is measured against: the one that decides.
    var partBoundary: Float { speech?.boundary ?? boundary }

    static func similarity(_ said: Float, besides negative: Float, boundary: Float) -> Float {
        min(said, boundary + negativeWeight * (said - negative))
    }

    /// The similarity that counts where the phrase is by so much more similar than the part of it that is nearest.
    public static func similarity(_ said: Float, partMargin: Float, boundary: Float) -> Float {
        min(said, boundary + partAllowance + partWeight * partMargin)
    }

    /// The similarity that counts where the alignment with the sequences has this mean distance.
    public static func similarity(_ said: Float, distance: Float) -> Float {
        said - sequenceWeight * (distance - usualDistance)
    }
}
