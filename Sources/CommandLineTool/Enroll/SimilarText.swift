private import Core
import Enrollment
import Inference
import JSON

/// A text that may be taken for a taught word, and how many synthetic voices that said it were.
struct SimilarText {
    let text: String
    /// Voices that said it, 0 without a synthesizer; those that were taken for the word; and a command that records the text.
    private(set) var (voices, taken): (Int, Int) = (0, 0)
    private(set) var command: String?

    init(_ text: String, for word: WordStore.Word, model: Model, by synthesizer: Synthesizer?) {
        self.text = text
        guard let synthesizer else { return }
        for voice in 0..<synthesizer.count {
            guard let said = synthesizer.say(text, voice: voice) else { continue }
            voices += 1
            if word.highestProbability(in: said, model) >= word.threshold { taken += 1 }
        }
        let file = text.replacing(" ", with: "-") + ".wav"
        let teach = "beckon enroll \(ShellWord.quoted(word.name)) --not \(ShellWord.quoted(file))"
        command = "\(synthesizer.command(text, file: file)) && \(teach)"
    }

    /// What a report says of some of them; empty for none.
    static func lines(_ texts: [SimilarText]) -> [String] {
        func list(_ texts: [SimilarText]) -> String { texts.map { "'\($0.text)'" }.joined(separator: ", ") }
        guard !texts.isEmpty else { return [] }
        guard texts.contains(where: { $0.voices > 0 }) else {
            return WordStore.Word.similarRemark(texts.map(\.text)).map {
                "\($0) Where espeak-ng or flite is installed, enroll tries which of them are."
            }
        }
        let taken = texts.filter { $0.taken > 0 }.sorted { $0.taken > $1.taken }
        guard let worst = taken.first else {
            return ["Said by synthetic voices, none of \(list(texts)) is taken for it."]
        }
        let shares = taken.map { "'\($0.text)' (\($0.taken) of \($0.voices))" }.joined(separator: ", ")
        var lines = ["Caution: said by synthetic voices, these are taken for it: \(shares)."]
        if let command = worst.command { lines.append("To tell it what it is not: \(command)") }
        return lines
    }

    var json: JSON { ["text": .string(text), "voices": .number(voices), "taken": .number(taken)] }
}
