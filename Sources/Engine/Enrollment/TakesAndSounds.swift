import Core
private import Glibc
import Spotting

/// The sounds of a word beside its takes: it is found by either, so that each has a part of the false accepts. Both have one scale of
/// probabilities, that of the takes in mode `command`.
struct SoundsBesideTakes: Sendable {
    /// False accepts in an hour that the sounds may add, with the sensitivities `strict` and `balanced`: as many times fewer as those of the
    /// takes.
    private static let (strict, balanced) = (0.04, 0.2)
    /// Both miss an utterance so many times as often as if their misses were independent. Of five of ten words by strangers, three draws of a take.
    private static let together = 2.0

    /// The score of the sounds alone with the sensitivity `balanced`, and in which rise of it false accepts become e-fold fewer.
    private let usual: Float
    private let scale: Float
    /// As in ``TypedWord``.
    let boundary: Float
    let slope: Float

    /// - Parameters:
    ///   - boundary: of the sounds alone.
    ///   - sounds: their thresholds.
    ///   - takes: the thresholds of the takes.
    ///   - threshold: of the takes, where that is all that is known.
    init(
        boundary: Float,
        _ sounds: SensitivityTable<Float>,
        takes: SensitivityTable<Float>,
        threshold: Float
    ) {
        let alone = TypedWord(name: "", pronunciations: [], boundary: boundary)
        func score(_ sensitivity: Sensitivity) -> Float { sounds[sensitivity, .command].map(alone.score) ?? boundary }
        let aims = TypedWordCalibration.aims
        usual = score(.balanced)
        // Above the best score all sensitivities are one.
        scale = max((score(.strict) - usual) / Float(log(aims.balanced / aims.strict)), 0.02)
        let level = logOdds(takes[.balanced, .command] ?? threshold)
        let higher = takes[.strict, .command].map(logOdds) ?? level
        let rise = scale * Float(log(Self.balanced / Self.strict))
        slope = higher > level ? rise / (higher - level) : TypedWord.slope
        self.boundary = usual + scale * Float(log(aims.balanced / Self.balanced)) - slope * level
    }

    private func score(_ threshold: Float) -> Float { boundary + slope * logOdds(threshold) }

    /// False accepts in an hour of talk that the sounds have at a threshold in mode `command`.
    func falseAccepts(at threshold: Float) -> Double {
        TypedWordCalibration.aims.balanced * exp(-Double((score(threshold) - usual) / scale))
    }

    /// The share of utterances that takes and sounds miss at such a threshold, 0…1.
    ///
    /// - Parameter byTakes: what the takes miss.
    func missed(_ byTakes: Double, at threshold: Float) -> Double {
        byTakes * min(1, Self.together * (1 - TypedWordCalibration.found(Double(score(threshold)))))
    }
}

extension TypedWord {
    /// The word beside takes of it.
    func beside(_ taught: TaughtWord) -> TypedWord {
        let beside = SoundsBesideTakes(
            boundary: boundary,
            sensitivities,
            takes: taught.sensitivities,
            threshold: taught.threshold
        )
        return TypedWord(
            name: name,
            pronunciations: pronunciations,
            boundary: beside.boundary,
            slope: beside.slope,
            sensitivities: sensitivities
        )
    }
}

extension WordStore {
    /// Stores how a word sounds: beside its takes, if it has some.
    ///
    /// - Parameter typed: the word without takes.
    /// - Returns: the word as it is stored.
    /// - Throws: ``EnrollmentError/store``.
    @discardableResult
    public mutating func add(typed: Word) throws(EnrollmentError) -> Word {
        var word = self[typed.name] ?? typed
        word.sounds = typed.sounds
        try put(word)
        return word
    }
}
