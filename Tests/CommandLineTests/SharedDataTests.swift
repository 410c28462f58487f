import CSndFile
import Foundation
import TestSupport
import Testing

/// Tests on recordings that may not be distributed with the program; they are skipped where the recordings are absent.
///
/// The folder is `../shared/data` beside the checkout, or the one that `BECKON_TEST_DATA` names.
struct SharedDataTests {
    private static let folder: String = {
        if let named = ProcessInfo.processInfo.environment["BECKON_TEST_DATA"] { return named }
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        return root.appendingPathComponent("shared/data").path
    }()

    private static var isThere: Bool {
        FileManager.default.fileExists(atPath: folder + "/speech_commands-stop.tar")
    }

    /// Files with a word each, spread over its speakers.
    private func files(of word: String, count: Int, in work: TestFolder) throws -> [String] {
        let archive = "\(Self.folder)/speech_commands-\(word).tar"
        func tar(_ arguments: String...) throws -> Program {
            let program = try Program.run(URL(fileURLWithPath: "/bin/tar"), ["-f", archive] + arguments)
            try #require(program.status == 0, "\(program.error)")
            return program
        }
        // A noise gate cut the start of this speaker's: published networks, too, take what is left, "op", for "up".
        let names = try tar("-t").lines.map(String.init).sorted().filter { name in
            name.hasSuffix(".opus") && !name.contains("/5fadb538")
        }
        let step = max(1, names.count / count)
        let chosen = stride(from: 0, to: names.count, by: step).prefix(count).map { names[$0] }
        // Two thousand files would take longer to write than the test takes.
        let list = try work.write("names", bytes: Array(chosen.joined(separator: "\n").utf8))
        _ = try tar("-x", "-C", work.path, "-T", list)
        return chosen.map(work.file)
    }

    /// One recording of all files with quiet noise between them, because no microphone gives digital silence.
    private func stream(_ files: [String], pause: Double, in work: TestFolder) throws -> String {
        var noise = SplitMix(seed: 1)
        var audio: [Float] = []
        for file in files {
            audio += try Voices.samples(at: file)
            audio += noise.floats(Int(pause * 16_000), -0.0005...0.0005)
        }
        return try work.write("stream.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, audio)
    }

    @Test(.enabled(if: isThere, "no recordings in ../shared/data"))
    func `stop, spoken 500 times, is taken for up once at most`() throws {
        let work = try TestFolder()
        let path = try stream(files(of: "stop", count: 500, in: work), pause: 0.6, in: work)
        let program = try Program.beckon(["classify", "--json", path])
        let words = try Result.all(in: program).compactMap(\.word)
        let counts = Dictionary(words.map { ($0, 1) }, uniquingKeysWith: +)
        print("500 times stop, heard: \(counts.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" })")
        #expect(counts["up", default: 0] <= 1)
        #expect(counts["stop", default: 0] > 450 && counts["stop", default: 0] <= 500)
    }

    @Test(.enabled(if: isThere, "no recordings in ../shared/data"), arguments: ["yes", "left", "go"])
    func `a word spoken 200 times is detected, and hardly any other word`(_ word: String) throws {
        let work = try TestFolder()
        let path = try stream(files(of: word, count: 200, in: work), pause: 0.6, in: work)
        let words = try Result.all(in: try Program.beckon(["classify", "--json", path])).compactMap(\.word)
        let hits = words.count { $0 == word }
        print("200 times \(word): \(hits) heard, \(words.count - hits) others")
        #expect(hits > 170 && hits <= 200)
        #expect(words.count - hits < 10)
    }

    @Test(.enabled(if: isThere, "no recordings in ../shared/data"))
    func `takes of the model's words by many people are accepted, those of other words hardly`() throws {
        let words = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"]
        var (taken, refused, others, passed) = (0, 0, 0, 0)
        /// Takes that were accepted as `name`, and those refused for how they sound.
        func enroll(_ name: String, _ files: [String], in work: TestFolder) throws -> (accepted: Int, refused: Int) {
            let program = try Program.beckon(
                ["enroll", name, "--json", "--words", work.file("\(UUID())"), "--from"] + files
            )
            let refused = program.error.components(separatedBy: "left out: sounds ").count - 1
            let unlike = program.error.components(separatedBy: "left out: unlike").count - 1
            let accepted = try program.lines.first.map { line in
                try JSONDecoder().decode(Taught.self, from: Data(line.utf8)).takes
            }
            return ((accepted ?? 0) + unlike, refused)
        }
        for (index, word) in words.enumerated() {
            let work = try TestFolder()
            let files = try self.files(of: word, count: 90, in: work)
            let own = try enroll(word, files, in: work)
            (taken, refused) = (taken + own.accepted, refused + own.refused)
            let other = try enroll(words[(index + 3) % words.count], Array(files.prefix(30)), in: work)
            (others, passed) = (others + other.accepted + other.refused, passed + other.accepted)
        }
        print(
            "takes of the word: \(taken) accepted, \(refused) refused; of other words: \(passed) of \(others) accepted"
        )
        #expect(taken > 700 && Double(refused) < 0.01 * Double(taken))
        #expect(Double(passed) < 0.25 * Double(others))
    }

    private struct Taught: Decodable { var takes: Int }

    /// "computer" by eight people as two words, as if somebody had taught it twice under other names.
    @Test(.enabled(if: isThere, "no recordings in ../shared/data"))
    func `words that sound alike do not silence each other`() throws {
        let work = try TestFolder()
        let archive = "\(Self.folder)/words.tar"
        let tar = try Program.run(
            URL(fileURLWithPath: "/bin/tar"),
            ["-xf", archive, "-C", work.path, "words/computer"]
        )
        try #require(tar.status == 0, "\(tar.error)")
        let names = try FileManager.default.contentsOfDirectory(atPath: work.file("words/computer")).sorted()
        let files = names.prefix(48).map { "\(work.file("words/computer"))/\($0)" }
        func enroll(_ name: String, _ files: some Sequence<String>, _ store: String) throws {
            let taught = try Program.beckon(["enroll", name, "--force", "--words", work.file(store), "--from"] + files)
            #expect(taught.status == 0, "\(taught.error)")
        }
        func found(_ store: String) throws -> Int {
            let program = try Program.beckon(["classify", "--json", "--words", work.file(store)] + files.dropFirst(8))
            let heard = try Result.all(in: program).filter { $0.word?.hasSuffix("omputer") == true }
            return Set(heard.map(\.file)).count
        }
        try enroll("computer", files.prefix(4), "one")
        try FileManager.default.copyItem(atPath: work.file("one"), toPath: work.file("two"))
        try enroll("komputer", files[4..<8], "two")
        let (alone, together) = try (found("one"), found("two"))
        print("files of 40 with the word: \(alone) with one word taught, \(together) with two that sound alike")
        // The model was not trained on this word: from four takes, 33 of 40 are found.
        #expect(alone >= 32 && together >= alone - 1)
    }
}
