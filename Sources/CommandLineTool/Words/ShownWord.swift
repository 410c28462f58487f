private import Core
import Enrollment
import JSON

/// `beckon words WORD`: what is kept of one word, its negative examples by number.
struct ShownWord {
    let word: WordStore.Word
    let json: Bool

    func run() {
        if json { return Output.write(object.line) }
        let recorded = word.takes.count { !$0.audio.isEmpty }
        let thresholds = DetectionMode.allCases.map {
            "\(decimal(Double(word.threshold(in: $0)), 2)) in mode \($0.rawValue)"
        }
        let said = word.sounds.map { "typed, said \($0.ways.map(printable).joined(separator: " or "))" }
        let takes = word.isTyped ? nil : "takes: \(word.takes.count), with recordings: \(recorded)"
        let what = [said, takes].compactMap(\.self).joined(separator: "; ")
        var text =
            "\(printable(word.name)): \(what); threshold \(thresholds.joined(separator: ", ")), with the sensitivity balanced\n"
        guard !word.isTyped else { return Output.writeText(text) }
        guard !word.negatives.isEmpty else { return Output.writeText(text + "No negative examples.\n") }
        var table = TextTable(["NEGATIVE", "SECONDS"], names: [])
        for (index, negative) in word.negatives.enumerated() {
            table.add(["\(index + 1)", seconds(negative.audio).map { decimal($0, 2) } ?? "–"])
        }
        text += Terminal.outputRoom.map { table.text(columns: $0) } ?? table.text
        Output.writeText(text + "Take one back: beckon words \(ShellWord.quoted(word.name)) --forget-negative NUMBER\n")
    }

    /// The same numbers as those of the list of all words, and each negative example.
    private var object: JSON {
        [
            "word": .string(word.name), "takes": .number(word.takes.count), "sounds": word.soundsAsJSON,
            "threshold": .number(word.threshold, places: 3), "boundary": .number(word.boundary, places: 4),
            "thresholds": word.thresholdsByMode,
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

extension WordStore.Word {
    /// How a typed word is said; empty for one that is known by its takes alone.
    var soundsAsJSON: JSON { .strings(sounds?.ways ?? []) }

    /// How many takes it has, and whether it is known by its name.
    var takesText: String {
        if isTyped { return "typed" }
        return sounds == nil ? "\(takes.count)" : "typed, \(takes.count)"
    }

    /// The threshold in each mode with the sensitivity `balanced`, as `{"spot": 0.88, "command": 0.8}`.
    var thresholdsByMode: JSON {
        .object(
            DetectionMode.allCases.map { JSON.Member($0.rawValue, .number(threshold(in: $0), places: 3)) }
        )
    }
}
