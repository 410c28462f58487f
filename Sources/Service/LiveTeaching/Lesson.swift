import Control
import Core
import Enrollment
import Inference
import Spotting

/// The teaching of one word: its takes, and the estimate from them.
struct Lesson: ~Copyable {
    /// Parts of a take's picture.
    private static let columns = 48

    let model: Model
    /// What there is to say of the newest recording; nil if it was simply used.
    var message: String?
    /// Whether the newest recording became a take.
    private(set) var isUsed = false
    private var teaching: Teaching
    private let file: WordStoreFile
    /// The words when the teaching began, among which it is calibrated for the estimate.
    private let others: [WordStore.Word]
    private let negatives: NegativeSet?
    /// Words that may sound like it; nil if the model has none.
    private let near: NearWords?
    /// The utterances of the takes that were added, in their order.
    private var utterances: [Utterance] = []
    private let before: Int

    /// - Throws: `EnrollmentError` or ``TeachingError`` if the word cannot be taught, or not be stored.
    init(_ name: String, more: Bool, _ settings: TeachingDesk.Settings) throws {
        let model = settings.model
        let file = try settings.words.file()
        // Checked first, so that the user does not record takes that cannot be stored.
        try file.checkChangeable()
        let negatives = try Self.negatives(settings)
        let near = try settings.modelFolder.flatMap { folder throws in try NearWords.beside(model, in: folder) }
        var store = try file.read()
        let teaching = try Teaching.begin(name, more: more, in: &store, model: model, negatives)
        let existing = store?[name]
        let known = (others: store?.words ?? [], before: existing?.takes.count ?? 0, negatives: negatives, near: near)
        self.init(teaching, file, known, model)
    }

    /// All that may throw is done before, as Swift 6.2 wants it for values that cannot be copied.
    private init(
        _ teaching: consuming Teaching,
        _ file: WordStoreFile,
        _ known: (others: [WordStore.Word], before: Int, negatives: NegativeSet?, near: NearWords?),
        _ model: Model
    ) {
        self.teaching = teaching
        (self.file, self.model) = (file, model)
        (others, before, negatives, near) = known
    }

    /// The model's negative set; nil if it has none.
    static func negatives(_ settings: TeachingDesk.Settings) throws -> NegativeSet? {
        try settings.modelFolder.flatMap { folder throws in try NegativeSet.beside(settings.model, in: folder) }
    }

    /// - Throws: if the word can have no more takes.
    func checkRoom() throws(TeachingError) {
        guard teaching.takes.count < WordStore.Limit.takes else {
            throw TeachingError(
                "'\(printable(teaching.name))' has \(teaching.takes.count) takes, which is the limit; save it"
            )
        }
    }

    /// Adds an utterance as a take; ``message`` says why it was not used.
    mutating func add(_ utterance: Utterance) {
        let spoken = teaching.addSpoken(utterance)
        isUsed = spoken.fault == nil
        let doubt = TakeCheck(utterance).doubt ?? teaching.doubt
        message = spoken.fault.map { "left out: \($0.plain)" } ?? doubt.map { "used, but \($0.plain)" }
        // Those of before have no sound here, and come first.
        let old = before
        let gone = Set(spoken.others.map { $0.index - old })
        utterances = utterances.enumerated().filter { !gone.contains($0.offset) }.map(\.element)
        if !gone.isEmpty, isUsed { message = "an earlier take was left out: it is unlike the others" }
        if spoken.fault == nil { utterances.append(utterance) }
    }

    /// Adds the newest utterance of a recent word's recording as a take.
    mutating func add(recording recorded: RecordedWord, _ settings: TeachingDesk.Settings) throws {
        try checkRoom()
        guard let samples = settings.recording(recorded) else { throw TeachingError.noRecording }
        guard let utterance = UtteranceSegmenter.takes(in: samples, model).last else {
            throw TeachingError("left out: \(TakeFault.noSpeech.plain)")
        }
        add(utterance)
    }

    /// Removes the newest take; false if there is none of this teaching.
    mutating func removeLast() -> Bool {
        guard teaching.removeLast() else { return false }
        message = nil
        _ = utterances.popLast()
        return true
    }

    /// Stores the word. Returns what was done.
    mutating func save() throws -> String {
        guard !utterances.isEmpty else { throw TeachingError("there is no take to store; record some") }
        try teaching.checkCommands()
        let word = try file.store(teaching, acceptsAlike: false, negatives, WordStoreFile.Wait()).word
        return "'\(printable(word.name))' is taught, from \(counted(word.takes.count, "take"))"
    }

    var name: String { teaching.name }
    /// Of before and of this teaching.
    var takes: Int { teaching.takes.count }

    /// How often the word will be missed, and what is taken for it, from its takes so far, a sentence each; empty without a model for it.
    var estimate: [String] {
        guard let negatives else { return [] }
        var word = teaching.word
        let calibration = word.calibrate(among: others, negatives)
        return calibration.meaning + calibration.neighbours + calibration.spellingRemark(word.name)
            + WordStore.Word.similarRemark(word.similarTexts(near, negatives)).map {
                "\($0) If such a word is taken for it, press Wrong beside it in Recent words."
            }
    }

    /// As everybody may see it, and the sounds of the takes, `[takes][samples]`.
    ///
    /// - Parameter leastEstimated: takes from which on there is an estimate.
    func shown(leastEstimated: Int) -> (TeachingState, [[Float]]) {
        var state = TeachingState()
        (state.word, state.before, state.message) = (teaching.name, before, message)
        state.wanted = teaching.isNew ? Teaching.defaultTakes : 1
        state.takes = utterances.map {
            TeachingState.Take(
                seconds: $0.seconds,
                level: TakeCheck($0).level,
                envelope: $0.envelope(Self.columns)
            )
        }
        if teaching.takes.count >= leastEstimated, !utterances.isEmpty { state.estimate = estimate }
        return (state, utterances.map(\.samples))
    }
}
