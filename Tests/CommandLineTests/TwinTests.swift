import Foundation
import TestSupport
import Testing

/// Two taught words of which one begins like the other, said by synthetic voices at several speeds.
struct TwinTests {
    private static let programs = ["espeak-ng": "/usr/bin/espeak-ng", "flite": "/usr/bin/flite"]
    static let areThere = programs.values.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }

    /// The slowest first. Takes are every second of them.
    private static let speeds = 6

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A text said at each speed.
    private func say(_ text: String, _ voice: String) throws -> [String] {
        try (0..<Self.speeds).map { speed in
            let file = folder.file("\(text)-\(speed).wav")
            let isFlite = voice == "slt"
            let arguments =
                isFlite
                ? ["-voice", voice, "--setf", "duration_stretch=\(1.4 - 0.1 * Double(speed))", "-t", text, "-o", file]
                : ["-v", voice, "-s", "\(120 + 15 * speed)", "-w", file, text]
            let program = Self.programs[isFlite ? "flite" : "espeak-ng"] ?? ""
            let said = try Program.run(URL(fileURLWithPath: program), arguments)
            #expect(said.status == 0, "\(said.error)")
            return file
        }
    }

    private func enroll(_ word: String, _ files: [String], _ options: [String] = []) throws -> Program {
        let takes = files.indices.filter { $0 % 2 == 0 }.map { files[$0] } + [files[Self.speeds - 1]]
        return try Program.beckon(["enroll", word] + options + ["--from"] + takes)
    }

    /// The files in which a word is found.
    private func found(_ word: String, _ files: [String], _ mode: String, words: String) throws -> Int {
        let program = try Program.beckon(["classify", "--json", "--mode", mode, "--words", words] + files)
        return Set(try Result.all(in: program).filter { $0.word == word }.map(\.file)).count
    }

    @Test(.enabled(if: areThere, "espeak-ng and flite are not installed"), arguments: ["en-us", "slt"])
    func `a phrase that begins with a taught word is refused; forced, neither silences the other`(
        _ voice: String
    ) throws {
        let (word, phrase) = ("computer", "computer anna")
        let (short, long) = (try say(word, voice), try say(phrase, voice))
        let (one, other, both) = (folder.file("one"), folder.file("other"), folder.file("both"))
        #expect(try enroll(word, short, ["--words", one]).status == 0)
        #expect(try enroll(phrase, long, ["--words", other]).status == 0)
        try FileManager.default.copyItem(atPath: one, toPath: both)

        for (name, files, store, beside) in [(phrase, long, both, word), (word, short, other, phrase)] {
            let before = try Data(contentsOf: URL(fileURLWithPath: store))
            let refused = try enroll(name, files, ["--words", store])
            #expect(refused.status == 1, "\(refused.output)")
            #expect(refused.error.contains("'\(name)' sounds like '\(beside)', which is taught already"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        }
        #expect(try enroll(phrase, long, ["--force", "--words", both]).status == 0)
        for mode in ["spot", "command"] {
            let alone = (try found(word, short, mode, words: one), try found(phrase, long, mode, words: other))
            let together = (try found(word, short, mode, words: both), try found(phrase, long, mode, words: both))
            print(
                "\(voice), \(mode): files of \(Self.speeds) in which each word is found: alone \(alone), both \(together)"
            )
            #expect(alone.0 >= 4 && alone.1 >= 4)
            #expect(together.0 >= alone.0 - 1 && together.1 >= alone.1 - 1)
            // Where only words said alone count, the one that was said fires, and the other one does not.
            let wrong = (try found(phrase, short, mode, words: both), try found(word, long, mode, words: both))
            #expect(wrong.0 == 0 && (mode == "spot" || wrong.1 <= 1), "\(wrong)")
        }
    }
}
