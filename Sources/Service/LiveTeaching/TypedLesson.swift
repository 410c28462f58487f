import Control
import Core
import Enrollment
import Phonemes
import Spotting

/// A word that is made from its name alone: what to expect of it, and what to store. The networks are not kept.
struct TypedLesson {
    let state: TypedWordState
    /// How a synthesizer says each pronunciation, `[pronunciations][samples]`; empty where it cannot.
    let sounds: [[Float]]
    private let word: WordStore.Word
    private let refusal: EnrollmentError?

    /// - Parameter sounds: pronunciations in IPA or ARPAbet; none for what the spelling gives.
    /// - Throws: `EnrollmentError` for a name that no word can have, or for sounds that cannot be read.
    init(_ name: String, sounds written: [String], _ settings: TeachingDesk.Settings) throws {
        let store = try settings.words.file().read()
        try TypedWordTeacher.check(name: name, in: store, settings.model)
        guard written.count <= Pronouncer.Limit.pronunciations else {
            throw TeachingError("a word has at most \(Pronouncer.Limit.pronunciations) pronunciations")
        }
        let teacher = try TypedWordTeacher(beside: settings.modelFolder)
        let (typed, calibration) = try teacher.word(name, sounds: written)
        let report = TypedWordReport(typed, calibration, teacher)
        let synthesizer = Synthesizer()
        let said = typed.pronunciations.map { synthesizer?.say($0, teacher.pronouncer) ?? [] }
        refusal = teacher.refusal(typed, calibration, beside: store, settings.model)
        word = WordStore.Word(typed, teacher.pronouncer)
        sounds = said
        var state = TypedWordState(word: name)
        state.pronunciations = zip(report.pronunciations, said).map { .init(sounds: $0, isPlayable: !$1.isEmpty) }
        state.expected = calibration.expected.map {
            .init(sensitivity: $0.sensitivity, found: $0.found, falseAcceptsPerHour: $0.falseAcceptsPerHour)
        }
        state.remarks = report.remarks
        state.refusal = refusal?.plain
        if synthesizer == nil {
            state.silence = "Where espeak-ng or flite is installed beside the service, it can be played."
        }
        self.state = state
    }

    /// Stores the word. Returns what was done.
    func save(_ settings: TeachingDesk.Settings) throws -> String {
        if let refusal { throw refusal }
        try settings.words.file().update(WordStoreFile.Wait()) { [word] store throws(EnrollmentError) in
            var changed = store ?? WordStore()
            try TypedWordTeacher.check(name: word.name, in: changed, settings.model)
            try changed.add(typed: word)
            store = changed
        }
        return "'\(printable(word.name))' is typed; it is found within a second or two"
    }
}
