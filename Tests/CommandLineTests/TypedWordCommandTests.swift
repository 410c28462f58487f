import Foundation
import TestSupport
import Testing

/// Words that are made from their names, by the program: enrolled, in a configuration, served.
struct TypedWordCommandTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func beckon(_ arguments: String...) throws -> Program {
        try Program.beckon(arguments, environment: ["BECKON_WORDS": folder.file("words")])
    }

    private func heard(_ voice: String, _ options: String...) throws -> [String] {
        let program = try Program.beckon(
            ["classify", "--json"] + options + [Voices.path(voice)],
            environment: ["BECKON_WORDS": folder.file("words")]
        )
        #expect(program.status == 0 && program.error == "")
        return try Result.all(in: program).compactMap(\.word)
    }

    @Test func `a word is typed, found beside others, listed and forgotten`() throws {
        let typed = try beckon("enroll", "front left", "--typed")
        #expect(typed.status == 0 && typed.error == "")
        #expect(typed.output.hasPrefix("Typed: front left, said f ɹ ʌ n t l ɛ f t"), "\(typed.output)")
        for part in [
            "sensitivity strict: found", "sensitivity balanced: found", "false accepts in an hour of talk",
            "Nearest in",
        ] {
            #expect(typed.output.contains(part))
        }
        #expect(try heard("Front_Left").sorted() == ["front left", "left"])
        #expect(try heard("Front_Left", "--words", "front left") == ["front left"])
        #expect(try heard("Front_Left", "--words", "left") == ["left"])
        #expect(try heard("Rear_Left") == ["left"])
        #expect(try beckon("enroll", "front lift", "--typed").error.contains("sounds like 'front left'"))
        #expect(try beckon("enroll", "front left", "--not", Voices.path("Noise")).error.contains("is a typed word"))
        #expect(try beckon("words").output.split(separator: "\n").contains { $0.hasPrefix("front left  typed") })
        #expect(try beckon("words", "front left").output.hasPrefix("front left: typed, said f ɹ ʌ n t l ɛ f t or "))
        #expect(try beckon("words", "--json").output.contains("\"sounds\": [\"f ɹ ʌ n t l ɛ f t\""))
        #expect(try beckon("enroll", "front left", "--typed").error.contains("is typed already"))
        #expect(try beckon("forget", "front left").status == 0)
        #expect(try heard("Front_Left") == ["left"])
    }

    @Test func `a typed word stays beside taught ones, and is kept by another model`() throws {
        #expect(try beckon("enroll", "front left", "--typed").status == 0)
        let takes = [1, 0.7, 0.4].map { Float($0) }
        var files: [String] = []
        for gain in takes {
            let samples = try Voices.samples("Rear_Center").map { $0 * gain }
            files.append(try folder.write("\(gain).wav", format: 0x010006, rate: Voices.rate, samples))
        }
        let taught = try Program.beckon(
            ["enroll", "rear center", "--from"] + files,
            environment: ["BECKON_WORDS": folder.file("words")]
        )
        #expect(taught.status == 0, "\(taught.error)")
        #expect(try heard("Front_Left", "--words", "front left,rear center") == ["front left"])
        #expect(try heard("Rear_Center", "--words", "front left,rear center") == ["rear center"])
        #expect(try beckon("words", "rename", "front left", "first").status == 0)
        #expect(try heard("Front_Left", "--words", "first") == ["first"])
        #expect(try beckon("words", "export", folder.file("kept")).status == 0)
        #expect(try beckon("forget", "first").status == 0)
        #expect(try beckon("words", "import", folder.file("kept"), "--replace").status == 0)
        #expect(try heard("Front_Left", "--words", "first") == ["first"])
    }

    @Test(arguments: [
        (["up", "--typed"], "one of the model's words"), (["hi", "--typed"], "2 sounds"),
        (["and the", "--typed"], "too often"),
        (["你好", "--typed"], "no known sound"), (["x", "--sounds", "7"], "'7'"),
    ]) func `a name that cannot work is refused in one line`(arguments: [String], says: String) throws {
        let program = try Program.beckon(
            ["enroll"] + arguments,
            environment: ["BECKON_WORDS": folder.file("words")]
        )
        #expect(program.status == 1 && program.output == "", "\(program)")
        #expect(program.error.contains(says) && program.error.split(separator: "\n").count == 1, "\(program.error)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("words")))
    }

    @Test(arguments: [["--device", "null"], ["--more"], ["--no-audio"], ["--not", "1"]])
    func `options for takes are refused`(options: [String]) throws {
        let program = try Program.beckon(["enroll", "hey house", "--typed"] + options)
        #expect(program.status == 2 && program.error.contains("a typed word has none"), "\(program.error)")
    }

    /// A word with a take and sounds is one word, in whatever order they came.
    @Test(arguments: [
        [["--typed"], ["--from"]], [["--from"], ["--typed"]], [["--typed", "--from"]],
    ]) func `a name and a take are one word`(steps: [[String]]) throws {
        for options in steps {
            let take = options.last == "--from" ? [Voices.path("Front_Left")] : []
            let program = try Program.beckon(
                ["enroll", "front left"] + options + take,
                environment: ["BECKON_WORDS": folder.file("words")]
            )
            #expect(program.status == 0 && program.error == "", "\(program.error)")
            #expect(program.output.contains("is taught, from its name and 1 take") == (options == steps.last))
        }
        #expect(try beckon("words").output.split(separator: "\n").contains { $0.hasPrefix("front left  typed, 1") })
        #expect(try beckon("words", "front left").output.contains("said f ɹ ʌ n t l ɛ f t or "))
        #expect(try heard("Front_Left", "--words", "front left") == ["front left"])
        #expect(try heard("Rear_Left", "--words", "front left") == [])
        #expect(try beckon("enroll", "front left", "--typed").error.contains("is typed already"))
        let again = try beckon("enroll", "front left", "--from", Voices.path("Front_Left"))
        #expect(again.status == 1 && again.error.contains("--more adds takes to it"))
        #expect(try beckon("words", "rename", "front left", "first left").status == 0)
        #expect(try beckon("words", "export", folder.file("kept")).status == 0)
        #expect(try beckon("forget", "first left").status == 0)
        #expect(try heard("Front_Left", "--words", "left") == ["left"])
        #expect(try beckon("words", "import", folder.file("kept")).status == 0)
        #expect(try heard("Front_Left", "--words", "first left") == ["first left"])
    }

    @Test func `a take of another word is told, and not used unasked`() throws {
        let other = try beckon("enroll", "orange banana", "--from", Voices.path("Front_Left"))
        #expect(other.status == 1 && other.error.contains("does not sound like 'orange banana'"), "\(other.error)")
        #expect(try beckon("words").output.hasPrefix("No words were taught"))
        for name in ["lights1", "zxcv"] {
            #expect(try beckon("enroll", name, "--from", Voices.path("Rear_Center")).status == 0)
            #expect(try beckon("forget", name).status == 0)
        }
        let forced = try beckon("enroll", "orange banana", "--force", "--from", Voices.path("Front_Left"))
        #expect(forced.status == 0, "\(forced.error)")
    }

    /// Makes a program in the folder, the only one of `PATH`.
    private func program(_ name: String, _ line: String) throws {
        try Data("#!/bin/sh\n\(line)\n".utf8).write(to: URL(fileURLWithPath: folder.file(name)))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.file(name))
    }

    @Test(arguments: [
        ("espeak-ng", "$4", "-v en-us -w FILE -- [[f|r|'V|n|t|l|E|f|t]]"),
        ("flite", "$6", "-voice slt -p f r ah1 n t l eh f t -o FILE"),
    ])
    func `the pronunciation is played`(name: String, output: String, said: String) throws {
        let log = folder.file("log")
        try program(name, "/bin/cat \(Voices.path("Noise")) > \"\(output)\"; echo \"$*\" >> \(log)")
        try program("aplay", "echo \"aplay $(/usr/bin/wc -c)\" >> \(log)")
        let typed = try Program.beckon(
            ["enroll", "front left", "--sounds", "f ɹ ʌ n t l ɛ f t", "--play"],
            environment: ["BECKON_WORDS": folder.file("words"), "PATH": folder.path]
        )
        #expect(typed.status == 0 && typed.error == "", "\(typed.error)")
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        let file = try #require(lines.first?.split(separator: " ").first { $0.hasPrefix("/proc/") })
        #expect(lines.first?.replacing(file, with: "FILE") == said[...])
        // Two bytes a sample, at 16 kHz.
        let bytes = 2 * (try Voices.samples("Noise")).count * 16_000 / Voices.rate
        let played = try #require(lines.last?.split(separator: " ").last.flatMap { Int($0) })
        #expect(lines.count == 2 && abs(played - bytes) < 200, "\(lines) for \(bytes)")
    }

    @Test func `what is not played is told in one line, and the word is typed all the same`() throws {
        func typed(_ word: String) throws -> Program {
            try Program.beckon(
                ["enroll", word, "--typed", "--play"],
                environment: ["BECKON_WORDS": folder.file("words"), "PATH": folder.path]
            )
        }
        let without = try typed("front left")
        #expect(without.status == 0 && without.output.hasPrefix("Typed: "))
        #expect(without.error.contains("neither espeak-ng nor flite is installed"), "\(without.error)")
        #expect(without.error.split(separator: "\n").count == 1)
        try program("espeak-ng", "exit 1")
        #expect(try typed("hey house").error.contains("aplay was not found"))
        try program("aplay", "exit 0")
        let mute = try typed("view glass")
        #expect(mute.status == 0 && mute.error.contains("espeak-ng cannot say it"), "\(mute.error)")
        let alone = try beckon("enroll", "smart mirror", "--play")
        #expect(alone.status == 2 && alone.error.contains("give --typed too"))
    }

    private func configuration(_ words: String) throws -> String {
        try folder.write("config.json5", bytes: Array("{ words: { \(words) } }".utf8))
        return folder.file("config.json5")
    }

    @Test func `a configuration makes typed words`() throws {
        let path = try configuration(
            "\"Front Left\": { typed: true, actions: [{ print: \"heard {word}\" }] }, "
                + "\"hinten\": { typed: true, sounds: [\"ɹ ɪ ɹ l ɛ f t\", \"R IH1 R L EH1 F T\"] }"
        )
        #expect(try beckon("config", "check", path).status == 0)
        for (voice, line) in [("Front_Left", "heard front left"), ("Rear_Left", "hinten"), ("Noise", "")] {
            let program = try beckon("listen", "--config", path, "--file", Voices.path(voice))
            #expect(program.status == 0, "\(program.error)")
            #expect(line.isEmpty ? program.output == "" : program.output.contains(line), "\(program.output)")
        }
    }

    @Test(arguments: [
        ("\"hi\": { typed: true }", "2 sounds"), ("left: { typed: true }", "is a word of the model already"),
        ("\"hey house\": { typed: true, sounds: [\"5\"] }", "'5'"), ("\"hey house\": { typed: 1 }", "typed"),
        ("\"hey house\": {}", "hey house"),
    ]) func `a configuration with a typed word that cannot work is refused`(words: String, says: String) throws {
        let path = try configuration(words)
        let check = try beckon("config", "check", path)
        #expect(check.status == 1 && (check.output + check.error).contains(says), "\(check)")
        let listen = try beckon("listen", "--config", path, "--file", Voices.path("Noise"))
        #expect(listen.status != 0 && listen.error.contains(says), "\(listen)")
    }
}
