private import Audio
import Core
import Enrollment
import Inference
private import JSON
private import Phonemes
private import Spotting

/// `beckon enroll WORD --typed`: makes a word from its name alone.
struct TypedEnrollment {
    let options: EnrollOptions
    let model: Model

    /// - Parameter store: the words that are there.
    /// - Returns: the exit status.
    func run(_ file: WordStoreFile, _ store: WordStore?) throws -> Int32 {
        let teacher = try TypedWordTeacher(beside: ModelFolder.find(options.listening.modelFolder))
        try TypedWordTeacher.check(name: options.word, in: store, model)
        let (word, calibration) = try teacher.word(options.word, sounds: options.sounds)
        if options.play { play(word.pronunciations, teacher.pronouncer) }
        if !options.force, let refusal = teacher.refusal(word, calibration, beside: store, model) {
            throw Failure("not taught: \(refusal)")
        }
        SystemWords.announce(options.words)
        try file.update(.announced(file.path)) { store throws(EnrollmentError) in
            var changed = store ?? WordStore()
            try changed.put(WordStore.Word(word, teacher.pronouncer))
            store = changed
        }
        let report = TypedWordReport(word, calibration, teacher)
        Output.write(options.json ? report.json.line : report.text)
        return 0
    }

    /// Says the sounds of the name aloud, or why they are not heard.
    private func play(_ pronunciations: [Pronunciation], _ pronouncer: Pronouncer) {
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
        (["Typed: \(printable(word.name)), said \(pronunciations.joined(separator: " or "))"] + lines)
            .map { $0 + "\n" }.joined()
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
