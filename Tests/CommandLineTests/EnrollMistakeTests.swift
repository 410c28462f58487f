import CSndFile
import Foundation
import TestSupport
import Testing

/// Names without quotes, and words that a command of the model is taken for.
struct EnrollMistakeTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private var words: String { folder.file("words") }

    private func beckon(_ arguments: String...) throws -> Program {
        try Program.beckon(arguments, environment: ["BECKON_WORDS": words])
    }

    /// Teaches a word from the recorded voice with three gains.
    private func enroll(_ word: String, _ voice: String, _ more: [String] = []) throws -> Program {
        let takes = try [1, 0.7, 0.4].map { (gain: Float) in
            try folder.write(
                "\(voice)-\(gain).wav",
                format: Int(SF_FORMAT_WAV | SF_FORMAT_FLOAT),
                rate: Voices.rate,
                try Voices.samples(voice).map { $0 * gain }
            )
        }
        return try Program.beckon(["enroll", word] + more + ["--from"] + takes, environment: ["BECKON_WORDS": words])
    }

    @Test func `a name of several words without quotes is said`() throws {
        #expect(try enroll("left side", "Side_Left").status == 0)
        for arguments in [
            ["forget", "left", "side"], ["forget", "Left", "Side"], ["words", "export", "-", "left", "side"],
        ] {
            let program = try Program.beckon(arguments, environment: ["BECKON_WORDS": words])
            #expect(program.status == 1 && program.output == "", "\(arguments)")
            #expect(program.error.contains("needs quotes; did you mean \"left side\"?"), "\(program.error)")
        }
        #expect(try beckon("forget", "side", "nobody").error.contains("no word 'side' was taught"))
        #expect(try beckon("forget", "left side").status == 0)
    }

    @Test func `a word that a command of the model is taken for is refused, unless it is insisted on`() throws {
        let refused = try enroll("xx", "Rear_Right")
        #expect(refused.status == 1 && !refused.output.contains("is taught"), "\(refused.output)")
        #expect(
            refused.error.hasPrefix("beckon: 'xx' sounds like 'right', which the model knows: "),
            "\(refused.error)"
        )
        #expect(refused.error.contains("--force") && refused.error.split(separator: "\n").count == 1)
        #expect(try beckon("words").output.hasPrefix("No words"))
        #expect(try enroll("xx", "Rear_Right", ["--force"]).status == 0)
        #expect(try beckon("forget", "xx").status == 0)
        // The model's word itself is adapted, not refused.
        #expect(try enroll("right", "Rear_Right").status == 0)
    }
}
