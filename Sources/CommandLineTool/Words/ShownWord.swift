private import Core
import Enrollment
private import JSON

/// `beckon words WORD`: what is kept of one word, its negative examples by number.
struct ShownWord {
    let word: WordStore.Word
    let json: Bool

    func run() {
        if json { return Output.write(object.line) }
        let recorded = word.takes.count { !$0.audio.isEmpty }
        var text =
            "\(printable(word.name)): takes: \(word.takes.count), with recordings: \(recorded); threshold "
            + "\(decimal(Double(word.threshold), 2))\n"
        guard !word.negatives.isEmpty else { return Output.write(text + "No negative examples.\n") }
        var table = TextTable(["NEGATIVE", "SECONDS"], names: [])
        for (index, negative) in word.negatives.enumerated() {
            table.add(["\(index + 1)", seconds(negative.audio).map { decimal($0, 2) } ?? "–"])
        }
        text += Terminal.outputRoom.map { table.text(columns: $0) } ?? table.text
        Output.write(text + "Take one back: beckon words \(ShellWord.quoted(word.name)) --forget-negative NUMBER\n")
    }

    /// The same numbers as those of the list of all words, and each negative example.
    private var object: JSON {
        [
            "word": .string(word.name), "takes": .number(word.takes.count),
            "threshold": .number(word.threshold, places: 3), "boundary": .number(word.boundary, places: 4),
            "negatives": .array(
                word.negatives.enumerated().map { index, negative in
                    [
                        "number": .number(index + 1),
                        "recordedSeconds": seconds(negative.audio).map { .number($0, places: 2) } ?? .null,
                    ]
                }
            ),
        ]
    }

    /// The length of a recording; nil where none was kept.
    private func seconds(_ audio: [Int16]) -> Double? {
        audio.isEmpty ? nil : Double(audio.count) / Double(Utterance.sampleRate)
    }
}
