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
        #expect(try enroll("side left", "Side_Left").status == 0)
        for arguments in [
            ["forget", "side", "left"], ["forget", "Side", "Left"], ["words", "export", "-", "side", "left"],
        ] {
            let program = try Program.beckon(arguments, environment: ["BECKON_WORDS": words])
            #expect(program.status == 1 && program.output == "", "\(arguments)")
            #expect(program.error.contains("needs quotes; did you mean 'side left'?"), "\(program.error)")
        }
        #expect(try beckon("forget", "side", "nobody").error.contains("no word 'side' was taught"))
        #expect(try beckon("forget", "side left").status == 0)
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

    @Test func `takes in which the model finds a command are refused, unless it is insisted on`() throws {
        // The second half of a recording is its second word.
        var takes = try ["Front_Left", "Rear_Left", "Side_Left"].map { voice in
            let samples = try Voices.samples(voice)
            let pause = [Float](repeating: 0, count: Voices.rate / 2)
            return try folder.write(
                "\(voice).wav",
                format: Int(SF_FORMAT_WAV | SF_FORMAT_FLOAT),
                rate: Voices.rate,
                pause + samples[(samples.count * 52 / 100)...] + pause
            )
        }
        func enroll(_ word: String, _ more: String...) throws -> Program {
            try Program.beckon(["enroll", word] + more + ["--from"] + takes, environment: ["BECKON_WORDS": words])
        }
        // By its name it is expected to sound like another word, so that few of the model's examples are taken for it.
        let refused = try enroll("wright")
        #expect(refused.status == 1 && !refused.output.contains("is taught"), "\(refused.output)")
        let says = "beckon: 'wright' sounds like 'left', which the model knows and finds in 3 of 3 takes;"
        // Each take is said not to sound like its name before.
        let line = refused.error.split(separator: "\n").last ?? ""
        #expect(line.hasPrefix(says) && line.contains("--force"), "\(refused.error)")
        #expect(try enroll("left").status == 0)
        #expect(try enroll("wright", "--force").status == 0)
        // One of three takes is not a reason.
        takes = [takes[0], Voices.path("Front_Center"), Voices.path("Rear_Center")]
        #expect(try !enroll("center").error.contains("which the model knows"))
        // The command as a part of a longer take is none either.
        takes = ["Front_Left", "Rear_Left", "Side_Left"].map(Voices.path)
        #expect(try !enroll("turn").error.contains("of 3 takes"))
    }
}
