public import Inference

/// Teaches one word: collects its takes from utterances.
public struct Teaching: ~Copyable {
    /// Takes to ask for by default.
    public static let defaultTakes = 4
    /// Cosine of a take with how its name sounds that nearly all good takes exceed. Of 40 single takes of ten words the 14 below have a mean
    /// recall of 79 %, the others of 94 %.
    private static let usualSpelling: Float = 0.4
    /// Similarity to the other takes below which a take is an outlier.
    private static let leastSimilarity: Float = 0.4

    /// Name of the word.
    public let name: String
    /// Whether it was not taught before.
    public let isNew: Bool
    /// How its name sounds, if that is to be stored with the takes; nil leaves what is stored.
    let sounds: WordStore.Sounds?
    /// Takes of the word, including those from before this teaching.
    public private(set) var takes: [WordStore.Take]

    /// What the teaching does to the takes that were stored before.
    struct Changes: Sendable {
        /// New takes.
        fileprivate(set) var added: [WordStore.Take]
        /// Stored takes that turned out to be outliers.
        fileprivate(set) var removed: [WordStore.Take] = []

        /// The takes after the changes.
        ///
        /// - Parameter stored: the takes as they are stored now; another program may have added some.
        func applied(to stored: [WordStore.Take]) -> [WordStore.Take] {
            var kept = stored
            for take in removed {
                if let index = kept.firstIndex(of: take) { kept.remove(at: index) }
            }
            // Another program may have added the same recording.
            return kept + added.filter { take in !kept.contains { $0.templates == take.templates } }
        }
    }

    /// The number of `takes` that were stored before the teaching; they come first.
    private var storedCount: Int
    private var removed: [WordStore.Take] = []
    /// The word of the model that each take is, `[takes]`; nil for stored takes, and for takes of any other word.
    private var commands: [String?]

    let model: Model
    private let keepsAudio: Bool
    /// Nil accepts takes that sound like another word.
    private let check: ModelWordCheck?
    private let negatives: NegativeSet?
    private var embedder: TakeEmbedder
    private let finder: CommandInTakes
    private let spoken: SpokenName
    /// A take that did not sound like the name.
    private var unlikeName: WordStore.Take?
    /// The newest take.
    private var newest: Utterance?

    /// - Parameters:
    ///   - existing: the word as it was taught before; nil for a new word.
    ///   - keepsAudio: whether to keep the recordings, so that the templates can be computed again for another model.
    ///   - negatives: takes of a word that the model has must not sound like something else than its examples there; nil
    ///     accepts them, and takes that do not sound like the name.
    ///   - sounds: how the name sounds, if that is to be stored with the takes; nil leaves what is stored.
    /// - Throws: ``EnrollmentError/name``.
    public init(
        _ name: String,
        existing: WordStore.Word?,
        model: Model,
        keepsAudio: Bool,
        negatives: NegativeSet? = nil,
        sounds: WordStore.Sounds? = nil
    ) throws(EnrollmentError) {
        try WordStore.check(name: name)
        self.init(checked: name, existing, model, keepsAudio, negatives, sounds)
    }

    /// Apart, because where the `init` of a noncopyable type throws, Swift 6.2 releases twice what its properties have as defaults.
    private init(
        checked name: String,
        _ existing: WordStore.Word?,
        _ model: Model,
        _ keepsAudio: Bool,
        _ negatives: NegativeSet?,
        _ sounds: WordStore.Sounds?
    ) {
        (self.name, self.sounds) = (name, sounds)
        isNew = existing == nil
        self.model = model
        self.keepsAudio = keepsAudio
        check = negatives.map(ModelWordCheck.init)
        self.negatives = negatives
        takes = existing?.takes ?? []
        storedCount = takes.count
        commands = takes.map { _ in nil }
        embedder = TakeEmbedder(model)
        finder = CommandInTakes(model)
        spoken = SpokenName(name, sounds: (sounds ?? existing?.sounds)?.ways ?? [])
        (newest, unlikeName) = (nil, nil)
    }

    /// Adds an utterance as a take.
    ///
    /// - Parameters:
    ///   - mostClipped: largest share of its samples that may be clipped, 0…1.
    ///   - isSure: whether it is used though it does not sound like the name.
    /// - Returns: why it cannot be used; nil if it was added.
    public mutating func add(
        _ utterance: Utterance,
        mostClipped: Double = TakeCheck.mostClipped,
        isSure: Bool = false
    ) -> TakeFault? {
        if let fault = TakeCheck(utterance, mostClipped: mostClipped).fault { return fault }
        let said = utterance.trimmed
        // All takes have the spacing of the first, so that their templates can be averaged.
        let spacing =
            takes.first?.templateSpacing ?? TakeEmbedder.templateSpacing(seconds: said.seconds, name: name, model)
        let take = embedder.take(of: said, name: name, spacing: spacing, keepsAudio: keepsAudio)
        let templates = take.templates
        guard templates.allSatisfy({ $0.contains { $0 != 0 } }) else { return .noSpeech }
        // The templates of the same samples are equal to the last bit.
        if let twin = takes.firstIndex(where: { $0.templates == templates }) { return .copy(ofTake: twin + 1) }
        if let fault = check?.fault(templates, as: name) { return fault }
        if check != nil, !isSure, spoken.isOther(said) {
            unlikeName = take
            return .otherName(name)
        }
        takes.append(take)
        newest = utterance
        commands.append(finder.word(of: utterance))
        return nil
    }

    /// What became of an utterance that was spoken as a take.
    public struct Spoken: Sendable {
        /// Why it was not used; nil if it was.
        public fileprivate(set) var fault: TakeFault?
        /// Whether it was not used because it is unlike the other takes.
        public fileprivate(set) var isOutlier = false
        /// Earlier takes that were removed for it: their indices before, and their similarities to the others, −1…1.
        public fileprivate(set) var others: [(index: Int, similarity: Float)] = []
    }

    /// Adds a spoken utterance as a take, and removes takes that are unlike the others.
    public mutating func addSpoken(_ utterance: Utterance) -> Spoken {
        var spoken = Spoken()
        let former = unlikeName
        spoken.fault = add(utterance)
        // Who says it the same way again means it so.
        if case .otherName = spoken.fault, let former, let unlikeName {
            let before = word(takes: [former])
            let similarity = SoundAlike.similarity(of: unlikeName, to: before.prototype, before.alignment)
            if similarity >= SoundAlike.leastSimilarity { spoken.fault = add(utterance, isSure: true) }
        }
        guard spoken.fault == nil else { return spoken }
        let newest = takes.count - 1
        for outlier in removeOutliers() {
            if outlier.index == newest {
                (spoken.fault, spoken.isOutlier) = (.outlier(similarity: outlier.similarity), true)
            } else {
                spoken.others.append(outlier)
            }
        }
        return spoken
    }

    /// Whether it is worth asking for another take in place of the newest one, though that one can be used; nil if it is not.
    public var doubt: TakeFault? {
        if let doubt = doubtOfSounds { return doubt }
        guard let take = takes.last, let negatives, PhraseParts.gaps(in: name).isEmpty else { return nil }
        let alone = WordStore.Word(name: name, embedding: model.embeddingIdentity, takes: [take])
        guard let cosine = alone.spelling(negatives) else { return nil }
        return (WordStore.Word.leastSpelling..<Self.usualSpelling).contains(cosine) ? .untypical(name) : nil
    }

    /// Whether the newest take sounds otherwise than its name, though not like another word; nil for no.
    public var doubtOfSounds: TakeFault? {
        guard let newest, spoken.isDoubtful(newest) else { return nil }
        return .untypical(name)
    }

    /// Removes the newest take, if it was added in this teaching.
    ///
    /// - Returns: false if there is none.
    public mutating func removeLast() -> Bool {
        guard takes.count > storedCount else { return false }
        takes.removeLast()
        commands.removeLast()
        return true
    }

    /// Removes takes that are unlike the others, the least similar first. Two takes are always kept, because neither of
    /// two can be called the outlier.
    ///
    /// - Returns: for each removed take, its index before the call and its similarity to the other takes, −1…1.
    public mutating func removeOutliers() -> [(index: Int, similarity: Float)] {
        var indices = Array(takes.indices)
        var removed: [(index: Int, similarity: Float)] = []
        while takes.count > 2 {
            let word = word
            let similarities = takes.indices.map { word.templateSimilarity(ofTake: $0) ?? -1 }
            guard let worst = similarities.indices.min(by: { similarities[$0] < similarities[$1] }),
                similarities[worst] < Self.leastSimilarity
            else { break }
            removed.append((indices[worst], similarities[worst]))
            let take = takes.remove(at: worst)
            commands.remove(at: worst)
            if worst < storedCount {
                storedCount -= 1
                self.removed.append(take)
            }
            indices.remove(at: worst)
        }
        return removed
    }

    /// Checks that the takes are not those of another word, which the model knows.
    ///
    /// - Throws: ``EnrollmentError/alike`` if the model finds such a word in two of three new takes, or more.
    public func checkCommands() throws(EnrollmentError) {
        let heard = commands.dropFirst(storedCount).map { $0 == name ? nil : $0 }
        for case let other? in Set(heard) {
            let count = heard.count { $0 == other }
            guard Double(count) < CommandInTakes.leastShare * Double(heard.count) else {
                throw .takesOfCommand(name, other, count: count, of: heard.count)
            }
        }
    }

    /// The word with its takes, not calibrated.
    public var word: WordStore.Word { word(takes: takes) }

    /// The word with other takes, not calibrated.
    public func word(takes: [WordStore.Take]) -> WordStore.Word {
        WordStore.Word(name: name, embedding: model.embeddingIdentity, takes: takes)
    }

    /// What the teaching has changed so far.
    var changes: Changes { Changes(added: Array(takes[storedCount...]), removed: removed) }
}
