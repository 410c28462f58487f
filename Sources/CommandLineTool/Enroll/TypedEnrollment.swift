private import Core
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
        let known = Labels(model.labels).words
        guard !known.contains(options.word) else {
            throw Failure("'\(printable(options.word))' is one of the model's words, which are found anyway")
        }
        let (word, calibration) = try teacher.word(options.word, sounds: options.sounds)
        if !options.force {
            if let refusal = teacher.refusal(word, calibration) { throw Failure("not taught: \(refusal)") }
            let others = (known + (store?.words.map(\.name) ?? [])).compactMap { name in
                (try? teacher.pronunciations(of: name)).map { (name, $0) }
            }
            if let other = teacher.soundAlike(word, among: others) {
                throw Failure(
                    "not taught: '\(printable(word.name))' sounds like '\(printable(other))'; each would be found in place of the other; "
                        + "choose another name, or --force"
                )
            }
        }
        SystemWords.announce(options.words)
        try file.update(.announced(file.path)) { store throws(EnrollmentError) in
            var changed = store ?? WordStore()
            try changed.put(WordStore.Word(word, teacher.pronouncer))
            store = changed
        }
        let report = TypedReport(word, calibration, teacher)
        Output.write(options.json ? report.json.line : report.text)
        return 0
    }
}

/// How a typed word is said, and what to expect of it.
private struct TypedReport {
    let word: TypedWord
    let calibration: TypedWordCalibration
    let teacher: TypedWordTeacher

    init(_ word: TypedWord, _ calibration: TypedWordCalibration, _ teacher: TypedWordTeacher) {
        (self.word, self.calibration, self.teacher) = (word, calibration, teacher)
    }

    /// Moments of talk that are named, the nearest first, and the frames that a word may take.
    private static let moments = 3
    private static let framesOfWord = 45

    private var pronunciations: [String] { word.pronunciations.map(teacher.pronouncer.text) }

    /// What the network heard in the talk that is nearest.
    private var nearest: [String] {
        return calibration.nearest.prefix(Self.moments).map { peak in
            let heard = teacher.talk.heard(before: peak.frame, frames: Self.framesOfWord)
            return teacher.pronouncer.text(Pronunciation(heard.filter { $0 != teacher.pronouncer.boundary }))
        }
        .filter { !$0.isEmpty }
    }

    var text: String {
        var text = "Typed: \(printable(word.name)), said \(pronunciations.joined(separator: " or "))\n"
        for one in calibration.expected {
            text +=
                "Expected with the sensitivity \(one.sensitivity.rawValue): found \(percent(one.found)) of the time, "
                + "\(decimal(one.falseAcceptsPerHour, 1)) false accepts in an hour of talk\n"
        }
        let hours = decimal(calibration.talkHours, 1)
        if !calibration.sayings.isEmpty {
            text += "In \(hours) hours of talk the word itself is said; that is no false accept.\n"
        }
        text += "Nearest in \(hours) hours of talk: \(nearest.joined(separator: "; "))\n"
        if let balanced = calibration.balanced, balanced.found < TypedWordCalibration.poor {
            text += "A longer name, or takes of your voice, would be found more often.\n"
        }
        return text
    }

    var json: JSON {
        [
            "word": .string(word.name), "typed": true,
            "sounds": .array(pronunciations.map { .string($0) }),
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
            "nearest": .array(nearest.map { .string($0) }),
        ]
    }

    private func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
}
