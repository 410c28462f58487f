private import Audio
public import Core
public import Inference
public import Spotting

/// The words that the user taught, each with its takes.
///
/// A model finds the words that its own embedding taught. The others stay as they are: another model can learn a word
/// anew from recordings, and a word without recordings is found again by the model that it was taught to.
public struct WordStore: Sendable, Equatable {
    /// One recording of a word, as its templates.
    public struct Take: Sendable, Equatable {
        /// Unit vectors, `[templates × dimensions]`: the embedding at the word's end and one before it.
        public var templates: [[Float]]
        /// Hops from one template to the one before; 0 for a single one.
        public var templateSpacing: Int
        /// The recording, mono at 16 kHz; empty unless the user keeps recordings.
        public var audio: [Int16] = []
        /// Of a phrase what its parts would be, said alone: unit vectors, `[parts × templates × dimensions]`; empty for a single word.
        public var parts: [[[Float]]] = []
        /// The embeddings from the word's beginning to its end: unit vectors, `[hops × dimensions]`; empty for a take that an earlier
        /// version stored without its recording.
        public var sequence: [[Float]] = []
        /// The speech embedding from the word's beginning to its end: unit vectors, `[frames × SpeechEmbedding.count]`; empty for a take
        /// that an earlier version stored without its recording.
        public var speech: [[Float]] = []
    }

    /// When there is a second look at a word, and what it has to give.
    public struct Look: Sendable, Equatable {
        /// Least probability by the templates that is looked at, 0…1.
        public var proposal: Float
        /// Similarity after the look at which the word's probability is 0.5.
        public var boundary: Float
    }

    /// How the name of a word sounds, and what is found by it.
    public struct Sounds: Sendable, Equatable {
        /// The ways in which it may be said, in IPA with spaces between sounds; at least one.
        public var ways: [String]
        /// The score at which its probability is 0.5, in nats a sound, where it has no takes.
        public var boundary: Float
        /// Thresholds of sensitivities and modes, likewise.
        public var sensitivities: SensitivityTable<Float>
        /// How the score is counted on which these are; words with another are calibrated anew when they are loaded.
        public var rule = Self.rule

        /// The first was without what the length of a word costs.
        static let rule = 2
    }

    /// A word with the takes that taught it, or the sounds of its name, or both.
    public struct Word: Sendable, Equatable {
        public let name: String
        /// Identity of the embedding that computed the templates (`Model.embeddingIdentity`); templates of different
        /// embeddings cannot be compared.
        public let embedding: String
        /// Least probability at which it fires, 0…1.
        public var threshold = WordStore.suggestedThreshold
        /// Thresholds of sensitivities and modes; empty for a word that was not calibrated.
        public var sensitivities = SensitivityTable<Float>()
        /// Similarity, −1…1, at which its probability is 0.5.
        public var boundary = WordStore.defaultBoundary
        /// Nil for a word that fires by its templates alone.
        public var look: Look?
        public var takes: [Take]
        /// Recordings in which it was found by mistake.
        public var negatives: [Negative] = []
        /// Other people's talk that is nearest to the takes, in the mean, `[templates × dimensions]`; the mean of the squares of the
        /// vectors' lengths, weighted like the templates, is 1. The word's own templates keep away from it. Empty for a word that was not
        /// calibrated.
        public var cohort: [[Float]] = []
        /// How the name sounds as it is spelled, `[dimensions]`, as long as the takes agree, 0…1. Empty for a word that does not sound
        /// so, and for one that was not calibrated.
        public var text: [Float] = []
        /// How its name sounds; nil for a word that is known by its takes alone. Without takes, boundary and thresholds of the word are
        /// those of its sounds.
        public var sounds: Sounds?
    }

    /// The threshold that calibration aims at: it sets each word's boundary so that this threshold is right.
    public static let suggestedThreshold: Float = 0.8
    /// Boundary of a word that was not calibrated.
    public static let defaultBoundary: Float = 0.5

    /// The words, in the order in which they were first taught.
    public var words: [Word]

    /// The names of words that were forgotten and not taught again, the newest last: a service whose configuration still names
    /// one starts without it.
    public private(set) var forgotten: [String]

    /// - Parameter forgotten: the newest ``Limit/forgotten`` of them are kept.
    public init(words: [Word] = [], forgotten: [String] = []) {
        self.words = words
        self.forgotten = forgotten.suffix(Limit.forgotten)
    }

    public subscript(name: String) -> Word? { words.first { $0.name == name } }

    /// Adds a word, or replaces the one of the same name.
    ///
    /// - Throws: ``EnrollmentError/store`` if there are more words or takes than ``Limit`` allows.
    public mutating func put(_ word: Word) throws(EnrollmentError) {
        guard word.takes.count <= Limit.takes else {
            throw .store.saying("'\(word.name)' has \(word.takes.count) takes, more than the limit of \(Limit.takes)")
        }
        guard words.count < Limit.words || self[word.name] != nil else {
            throw .store.saying("there are \(words.count) words already, which is the limit; forget some")
        }
        if let index = words.firstIndex(where: { $0.name == word.name }) {
            words[index] = word
        } else {
            words.append(word)
        }
        forgotten.removeAll { $0 == word.name }
    }

    /// Removes a word.
    ///
    /// - Throws: ``EnrollmentError/unknown``.
    public mutating func forget(_ name: String) throws(EnrollmentError) {
        _ = try word(name)
        words.removeAll { $0.name == name }
        forgotten = (forgotten + [name]).suffix(Limit.forgotten)
    }

    /// Puts a word in the place of one of another name, which counts as forgotten.
    mutating func replace(_ name: String, with word: Word) {
        guard let index = words.firstIndex(where: { $0.name == name }) else { return }
        words[index] = word
        forgotten = (forgotten.filter { $0 != word.name } + [name]).suffix(Limit.forgotten)
    }

    /// The word whose name differs from `name` only in case, spaces and punctuation; nil for none. To the ear they are one.
    public func word(spelledLike name: String) -> Word? { words.first { Self.isSpelledLike($0.name, name) } }

    /// Whether two names differ, but only in case, spaces and punctuation.
    public static func isSpelledLike(_ one: String, _ other: String) -> Bool {
        func letters(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
        return one != other && !letters(one).isEmpty && letters(one) == letters(other)
    }

    /// The word of a name.
    ///
    /// - Throws: ``EnrollmentError/unknown``.
    public func word(_ name: String) throws(EnrollmentError) -> Word {
        if let word = self[name] { return word }
        let names = words.map(\.name)
        let known = names.isEmpty ? "there are none" : "the taught words are " + names.joined(separator: ", ")
        let hint = nearestName(to: name, of: names).map { "did you mean '\($0)'?" }
        throw .unknown.saying("no word '\(name)' was taught; \(hint ?? known)")
    }

    /// Limits that keep a store small and quick to read.
    public enum Limit {
        public static let words = 1000
        /// Names of forgotten words.
        public static let forgotten = 1000
        public static let takes = 100
        public static let nameBytes = 200
        public static let templates = 4
        /// Parts of a phrase.
        public static let parts = 6
        /// Hops of a take's sequence.
        public static let sequence = TaughtWord.mostHops
        /// Speech frames of a take.
        public static let speech = SpeechTakes.mostFrames
        /// Negative examples of a word, and moments of each.
        public static let negatives = 20
        public static let moments = 8
        public static let dimensions = 4096
        /// Pronunciations of a word, and bytes of each.
        public static let pronunciations = 8
        public static let soundBytes = 600
        /// Samples of one take.
        public static let audio = 16000 * 10
        /// Bytes of a whole store.
        public static let bytes = 1 << 30
    }

    /// Checks a name: one line of readable text that does not begin with an underscore, as special labels do.
    ///
    /// - Throws: ``EnrollmentError/name``.
    public static func check(name: String) throws(EnrollmentError) {
        let advice = "name the word as it is said, such as: computer"
        guard !name.isEmpty, name.contains(where: { !$0.isWhitespace }) else {
            throw .name.saying("a word needs a name; \(advice)")
        }
        guard name.utf8.count <= Limit.nameBytes else {
            throw .name.saying("'\(name.prefix(40))…': a name has at most \(Limit.nameBytes) bytes; \(advice)")
        }
        guard !Labels.isSpecial(name) else {
            throw .name.saying("'\(name)': names do not begin with an underscore; \(advice)")
        }
        guard isReadableName(name) else {
            throw .name.saying("'\(name)': a name is one line without control or invisible characters; \(advice)")
        }
        guard name.first?.isWhitespace == false, name.last?.isWhitespace == false else {
            throw .name.saying("'\(name)': a name neither begins nor ends with a space; \(advice)")
        }
    }
}

// MARK: - Templates

extension WordStore.Word {
    /// The word as a detector recognises it; nil without takes.
    public var taught: TaughtWord? {
        TaughtWord(
            name: name,
            threshold: threshold,
            sensitivities: sensitivities,
            templates: prototype,
            templateSpacing: takes.first?.templateSpacing ?? 0,
            boundary: boundary,
            negatives: negatives.flatMap(\.moments),
            parts: parts,
            sequences: sequences,
            speech: look.flatMap {
                SpeechTakes(
                    speechTakes,
                    proposal: $0.proposal,
                    boundary: $0.boundary,
                    firstGap: PhraseParts.gaps(in: name).first.map(Float.init)
                )
            }
        )
    }

    /// Similarity at which the probability that is compared with thresholds is 0.5.
    var firingBoundary: Float { look?.boundary ?? boundary }

    /// Where in time the templates of `prototype` lie.
    var alignment: TemplateAlignment {
        TemplateAlignment(count: takes.first?.templates.count ?? 0, spacing: takes.first?.templateSpacing ?? 0)
    }

    /// How far a template is moved away from the cohort. Measured over two words by real people and 2.4 hours of talk: 0.2 to 0.4 are
    /// alike, and better than none.
    private static let cohortWeight: Float = 0.3
    /// The weight of the text beside the normalised mean of n takes is `textTakes` / (n + 0.5). Measured over ten words by real people,
    /// five takes: 2 and 3 are alike, with 5 fewer words are found.
    private static let textTakes: Float = 2.5

    /// Unit vectors, `[templates × dimensions]`: the normalised mean of the takes' templates, that at the end moved to the text, and all
    /// moved away from the cohort. Takes whose spacing differs from the first take's are left out.
    var prototype: [[Float]] { prototype(cohort: cohort) }

    /// The same with another cohort; none for the mean of the takes alone.
    func prototype(cohort: [[Float]]) -> [[Float]] { prototype(of: takes[...], cohort) }

    /// Similarity of a take's templates to the prototype of the other takes, −1…1; nil for a single take or one with another
    /// number of templates.
    func templateSimilarity(ofTake index: Int) -> Float? {
        let others = prototype(of: takes[..<index] + takes[(index + 1)...], cohort)
        let templates = takes[index].templates
        guard !others.isEmpty, others.count == templates.count else { return nil }
        return alignment.mean { dot(templates[$0], others[$0]) }
    }

    func prototype(of takes: ArraySlice<WordStore.Take>, _ cohort: [[Float]]) -> [[Float]] {
        guard let first = takes.first else { return [] }
        let alike = takes.filter {
            $0.templates.count == first.templates.count && $0.templateSpacing == first.templateSpacing
        }
        return first.templates.indices.map { template in
            var mean = unitMean(of: alike.map { $0.templates[template] })
            if template == 0, text.count == mean.count {
                let weight = Self.textTakes / (Float(alike.count) + 0.5)
                mean = unit(zip(mean, text).map { $0 + weight * $1 })
            }
            guard cohort.indices.contains(template), cohort[template].count == mean.count else { return mean }
            return unit(zip(mean, cohort[template]).map { $0 - Self.cohortWeight * $1 })
        }
    }

    /// The threshold in a mode with the sensitivity `balanced`, as a detector uses it where nobody chose another.
    public func threshold(in mode: DetectionMode) -> Float { sensitivities[.balanced, mode] ?? threshold }

    /// Sets the text, the cohort, `boundary` and all thresholds from the negative set and the takes.
    ///
    /// - Parameter others: the user's words; one of this name, and those of another embedding, are ignored.
    /// - Returns: the calibration, with the error rates to expect.
    public mutating func calibrate(among others: [WordStore.Word], _ negatives: NegativeSet) -> WordCalibration {
        let besides = others.filter { $0.name != name && $0.embedding == embedding }
        text = textVector(negatives)
        cohort = negatives.cohort(of: prototype(cohort: []), alignment)
        let calibration = WordCalibration(self, besides: besides, negatives: negatives)
        boundary = calibration.boundary
        look = calibration.look
        threshold = calibration.suggested.threshold
        sensitivities = calibration.sensitivities
        return calibration
    }

    /// What to expect of the word as it is; nothing is changed. Nil without a negative set.
    public func calibrated(among others: [WordStore.Word], _ negatives: NegativeSet?) -> WordCalibration? {
        var copy = self
        return negatives.map { copy.calibrate(among: others, $0) }
    }

    /// Estimates the thresholds of sensitivities for a word that was calibrated before there were any; its own threshold
    /// stays as it is.
    mutating func estimateSensitivities(_ negatives: NegativeSet) {
        sensitivities = WordCalibration(self, besides: [], negatives: negatives)
            .sensitivities(threshold: threshold, boundary: firingBoundary)
    }
}

// MARK: - Another model

extension WordStore {
    /// Whether a take may be lost when a word is learnt anew.
    public enum Renewal: Sendable {
        /// Words of which every take has a recording. Nothing is lost, so the result may be stored.
        case complete
        /// Takes without a recording, or with one in which this model hears no speech, are left out.
        case partial
    }

    /// The words that a detector with this model finds. Where a part of a phrase is a word of its own, the more likely of the two is found.
    public func taught(for model: Model) -> [TaughtWord] {
        words.compactMap { word in
            guard word.isUsable(by: model) else { return nil }
            let hasTwin = words.contains { PhraseParts.isPart($0.name, of: word.name) }
            return hasTwin ? word.withoutParts.taught : word.taught
        }
    }

    /// The words with sounds, which any model finds.
    public var typed: [Word] { words.filter { $0.sounds != nil } }

    /// The names of the words that this model cannot find as they are: they were taught to another one.
    public func unusable(by model: Model) -> [String] {
        words.filter { !$0.isTyped && !$0.isUsable(by: model) }.map(\.name)
    }

    /// Learns the words of other embeddings anew from their recordings, and calibrates them. Words without recordings stay as
    /// they are.
    ///
    /// - Parameters:
    ///   - names: the words to learn; nil for all.
    ///   - negatives: to calibrate the words with; nil leaves them at the default boundary.
    /// - Returns: whether a word was changed.
    @discardableResult
    public mutating func renew(
        _ names: [String]? = nil,
        for model: Model,
        _ negatives: NegativeSet?,
        _ renewal: Renewal
    ) -> Bool {
        let changed = words.indices.filter { index in
            guard names?.contains(words[index].name) ?? true, !words[index].isTyped, !words[index].isUsable(by: model),
                let word = words[index].renewed(for: model, renewal)
            else { return false }
            words[index] = word
            return true
        }
        guard let negatives else { return !changed.isEmpty }
        for index in changed { _ = words[index].calibrate(among: words, negatives) }
        return !changed.isEmpty
    }
}

extension WordStore.Word {
    func isUsable(by model: Model) -> Bool {
        embedding == model.embeddingIdentity && takes.first?.templates.first?.count == model.embeddingCount
    }

    /// The word with templates by this model, not calibrated; nil if its recordings do not suffice.
    func renewed(for model: Model, _ renewal: WordStore.Renewal) -> WordStore.Word? {
        guard renewal == .partial || !takes.contains(where: \.audio.isEmpty) else { return nil }
        let utterances = takes.compactMap { Self.utterance($0.audio, model) }
        guard let first = utterances.first, renewal == .partial || utterances.count == takes.count else { return nil }
        var embedder = TakeEmbedder(model)
        let spacing = TakeEmbedder.templateSpacing(seconds: first.seconds, name: name, model)
        var takes: [WordStore.Take] = []
        for utterance in utterances {
            takes.append(embedder.take(of: utterance, name: name, spacing: spacing, keepsAudio: true))
        }
        var word = WordStore.Word(name: name, embedding: model.embeddingIdentity, takes: takes)
        word.sounds = sounds
        word.negatives = word.renewedNegatives(&embedder, of: negatives)
        return word
    }

    /// The speech of a recording as one utterance, from its first to its last active step; nil if there is none.
    static func utterance(_ audio: [Int16], _ model: Model) -> Utterance? {
        let samples = audio.map(Float.init(sample:))
        let found = UtteranceSegmenter.utterances(of: samples, model)
        guard let first = found.first, let last = found.last else { return nil }
        let speech = first.start + first.speech.lowerBound..<last.start + last.speech.upperBound
        return Utterance(samples: samples, speech: speech).trimmed
    }
}
