private import Audio
import Core
import Enrollment
import Inference
private import JSON
private import Phonemes
private import Spotting

/// `beckon enroll WORD --typed`: makes a word from its name, alone or beside takes.
struct TypedEnrollment {
    /// The word without takes.
    let word: WordStore.Word
    private let report: TypedWordReport
    private let options: EnrollOptions

    /// Makes the word, and plays how it is said if that is wanted.
    ///
    /// - Parameter store: the words that are there.
    /// - Throws: why it cannot be found by its name.
    init(options: EnrollOptions, model: Model, _ store: WordStore?) throws {
        let teacher = try TypedWordTeacher(beside: ModelFolder.find(options.listening.modelFolder))
        try TypedWordTeacher.check(name: options.word, in: store, model)
        let (typed, calibration) = try teacher.word(options.word, sounds: options.sounds)
        if options.play { Self.play(typed.pronunciations, teacher.pronouncer) }
        if !options.force, let refusal = teacher.refusal(typed, calibration, beside: store, model) {
            throw Failure("not taught: \(refusal)")
        }
        word = WordStore.Word(typed, teacher.pronouncer)
        report = TypedWordReport(typed, calibration, teacher)
        self.options = options
    }

    /// Stores the word without new takes.
    ///
    /// - Parameter taught: the report on a word that has takes.
    /// - Returns: the exit status.
    func store(
        in file: WordStoreFile,
        taught: (WordStore.Word, WordStoreFile) -> EnrollReport
    ) throws -> Int32 {
        SystemWords.announce(options.words)
        var stored = word
        try file.update(.announced(file.path)) { store throws(EnrollmentError) in
            var changed = store ?? WordStore()
            stored = try changed.add(typed: word)
            store = changed
        }
        guard stored.isTyped else {
            var whole = taught(stored, file)
            whole.typing = said
            Output.write(options.json ? whole.json + "\n" : whole.text())
            return 0
        }
        Output.write(options.json ? report.json.line : report.text)
        return 0
    }

    /// How the name is said.
    var said: String { report.said }

    /// Says the sounds of the name aloud, or why they are not heard.
    private static func play(_ pronunciations: [Pronunciation], _ pronouncer: Pronouncer) {
        guard let synthesizer = Synthesizer() else {
            return Output.report(.warning, "it is not played: neither espeak-ng nor flite is installed")
        }
        guard let player = TakePlayer() else {
            return Output.report(.warning, "it is not played: aplay was not found; it is in the package alsa-utils")
        }
        for pronunciation in pronunciations where !Interrupt.isRequested {
            let sounds = pronouncer.text(pronunciation)
            guard let said = synthesizer.say(pronunciation, pronouncer) else {
                Output.report(.warning, "\(sounds): not played: \(synthesizer.name) cannot say it")
                continue
            }
            do throws(Failure) {
                try player.play(pcm: said.map(Int16.init(sample:)))
            } catch {
                return Output.report(.warning, error.description)
            }
        }
    }
}

extension TypedWordReport {
    fileprivate var text: String {
        ([said] + lines).map { $0 + "\n" }.joined()
    }

    fileprivate var said: String {
        "Typed: \(printable(word.name)), said \(pronunciations.joined(separator: " or "))"
    }

    fileprivate var json: JSON {
        [
            "word": .string(word.name), "typed": true,
            "sounds": .strings(pronunciations),
            "boundary": .number(word.boundary, places: 4),
            "talkHours": .number(calibration.talkHours, places: 2),
            "expected": .array(
                calibration.expected.map {
                    [
                        "sensitivity": .string($0.sensitivity.rawValue), "found": .number($0.found, places: 3),
                        "falseAcceptsPerHour": .number($0.falseAcceptsPerHour, places: 2),
                    ]
                }
            ),
            "nearest": .strings(nearest), "respelled": .strings(respelled),
        ]
    }
}
