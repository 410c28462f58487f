private import Core
public import Inference
public import Phonemes
public import Spotting
private import System

/// The folder `phonemes` among the models: networks of sounds and of spelling, and talk.
public enum PhonemeFolder {
    /// The folder that came with the program, or the one beside a model's folder.
    ///
    /// - Throws: ``EnrollmentError/model``.
    static func find(beside model: String?) throws(EnrollmentError) -> String {
        let folder = ModelFolder.shippedFile("phonemes") ?? model.map { $0 + "/../phonemes" }
        guard let folder, isFolder(folder) else {
            throw .model.saying("typed words need the folder phonemes, which comes with the program; install it again")
        }
        return folder
    }

    /// The network of sounds, which detectors need.
    ///
    /// - Parameter model: a model's folder.
    /// - Throws: ``EnrollmentError/model``, `ModelError`.
    public static func hearing(beside model: String?) throws -> SoundHearing {
        SoundHearing(try PhonemeNetwork(folder: try find(beside: model)))
    }
}

/// Makes words from their names: pronounces them, and compares them with talk.
public struct TypedWordTeacher: Sendable {
    public let hearing: SoundHearing
    public let pronouncer: Pronouncer
    public let talk: PhonemeTalk

    /// - Parameters:
    ///   - hearing: if it was read before.
    ///   - model: a model's folder.
    /// - Throws: ``EnrollmentError/model``, `ModelError`.
    public init(_ hearing: SoundHearing? = nil, beside model: String?) throws {
        self.hearing = try hearing ?? PhonemeFolder.hearing(beside: model)
        let folder = self.hearing.network.folder
        pronouncer = try Pronouncer(folder: folder)
        talk = try PhonemeTalk(self.hearing.network)
    }

    /// Checks that a word may be known by its name: a new one, or one that has takes alone.
    ///
    /// - Throws: ``EnrollmentError/name``.
    public static func check(name: String, in store: WordStore?, _ model: Model) throws(EnrollmentError) {
        try WordStore.check(name: name)
        let readable = printable(name)
        guard !Labels(model.labels).words.contains(name) else {
            throw .name.saying("'\(readable)' is one of the model's words, which are found anyway")
        }
        // One with takes gets the sounds of its name beside them.
        if store?[name]?.sounds != nil {
            throw .name.saying("'\(readable)' is typed already; takes can be added to it")
        }
        guard let twin = WordTwin(of: name, store, model) else { return }
        throw .name.saying("'\(readable)' is spelled almost like '\(printable(twin.name))', which is known already")
    }

    /// The word of a name, and what to expect of it.
    ///
    /// - Parameter sounds: pronunciations in IPA or ARPAbet; none for what the spelling gives.
    /// - Throws: ``EnrollmentError/name`` for a name without a pronunciation.
    public func word(
        _ name: String,
        sounds: [String] = []
    ) throws(EnrollmentError) -> (word: TypedWord, calibration: TypedWordCalibration) {
        let pronunciations = try pronunciations(of: name, sounds: sounds)
        // Written as the spelling gives them, they are spelled all the same.
        let spelled = sounds.isEmpty ? pronunciations : (try? pronouncer.pronunciations(of: name)) ?? []
        let isSpelled = pronunciations.allSatisfy { one in spelled.contains { $0.sounds == one.sounds } }
        let calibration = TypedWordCalibration(pronunciations, talk, isSpelled: isSpelled)
        return (calibration.word(name, pronunciations), calibration)
    }

    /// The pronunciations of a word: those that are written, or else what its spelling gives.
    ///
    /// - Throws: ``EnrollmentError/name``.
    public func pronunciations(of name: String, sounds: [String] = []) throws(EnrollmentError) -> [Pronunciation] {
        do throws(PronunciationError) {
            guard sounds.isEmpty else {
                return try sounds.map { written throws(PronunciationError) in
                    try pronouncer.pronunciation(written: written)
                }
            }
            return try pronouncer.pronunciations(of: name)
        } catch {
            throw .name.saying(error.message)
        }
    }

    /// Why a word cannot work: it has too few sounds, or talk has sounds like it too often; nil for none.
    public func refusal(_ word: TypedWord, _ calibration: TypedWordCalibration) -> EnrollmentError? {
        let name = printable(word.name)
        let fewest = word.pronunciations.map(\.sounds.count).min() ?? 0
        guard fewest >= TypedWordCalibration.fewestSounds else {
            return .cannotBeTyped(
                name,
                "'\(name)' has \(fewest) sounds, and a typed word at least \(TypedWordCalibration.fewestSounds)"
            )
        }
        guard let balanced = calibration.balanced, balanced.found < TypedWordCalibration.leastFound else { return nil }
        return .cannotBeTyped(
            name,
            "talk sounds like '\(name)' too often: with few false accepts it would be found \(percent(balanced.found)) of the time"
        )
    }

    /// Why a word should not be stored: it cannot work, or sounds like one of the model's words or a stored one; nil for none.
    public func refusal(
        _ word: TypedWord,
        _ calibration: TypedWordCalibration,
        beside store: WordStore?,
        _ model: Model
    ) -> EnrollmentError? {
        if let refusal = refusal(word, calibration) { return refusal }
        let others = (Labels(model.labels).words + (store?.words.map(\.name) ?? [])).compactMap { name in
            (try? pronunciations(of: name)).map { (name, $0) }
        }
        return soundAlike(word, among: others).map { .typedSoundAlike(printable(word.name), printable($0)) }
    }

    /// The word of others that sounds the same; nil for none.
    ///
    /// - Parameter others: names with their pronunciations.
    public func soundAlike(_ word: TypedWord, among others: [(name: String, pronunciations: [Pronunciation])])
        -> String?
    {
        others.first { other in
            other.name != word.name
                && other.pronunciations.contains { said in
                    word.pronunciations.contains {
                        let network = hearing.network
                        let score = PhonemeAlignment.score(
                            $0,
                            said: said,
                            blank: network.blank,
                            symbols: network.symbols.count
                        )
                        return score >= word.boundary
                    }
                }
        }?.name
    }
}

extension WordStore.Word {
    /// Whether it is known by its name alone: nobody recorded it.
    public var isTyped: Bool { takes.isEmpty && sounds != nil }

    /// The word as a detector recognises it by its sounds; nil for one that is known by its takes alone.
    ///
    /// - Parameter symbols: of the network.
    func typed(_ symbols: [String]) -> TypedWord? {
        guard let sounds else { return nil }
        let ways = sounds.ways.compactMap { Pronunciation(symbols: $0, among: symbols) }
        guard !ways.isEmpty else { return nil }
        return TypedWord(
            name: name,
            pronunciations: ways,
            boundary: sounds.boundary,
            sensitivities: sounds.sensitivities
        )
    }

    /// A typed word as it is stored.
    ///
    /// - Parameter pronouncer: tells the sounds' names.
    public init(_ word: TypedWord, _ pronouncer: Pronouncer) {
        self.init(name: word.name, embedding: "", takes: [])
        hear(
            WordStore.Sounds(
                ways: word.pronunciations.map(pronouncer.text),
                boundary: word.boundary,
                sensitivities: word.sensitivities
            )
        )
    }

    /// Gives a word without takes the boundary and the thresholds of its sounds.
    mutating func hear(_ sounds: WordStore.Sounds) {
        self.sounds = sounds
        (boundary, threshold, sensitivities) = (sounds.boundary, TypedWord.threshold, sounds.sensitivities)
    }
}
