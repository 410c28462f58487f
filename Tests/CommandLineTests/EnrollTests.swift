import CSndFile
import Foundation
import TestSupport
import Testing

/// Taught words: the program enrols, stores, detects and forgets them.
struct EnrollTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private var words: String { folder.file("state/words") }

    /// The recorded voice with another gain.
    private func take(_ voice: String, gain: Float = 1) throws -> String {
        try folder.write(
            "\(voice)-\(gain).wav",
            format: Int(SF_FORMAT_WAV | SF_FORMAT_FLOAT),
            rate: Voices.rate,
            try Voices.samples(voice).map { $0 * gain }
        )
    }

    private func takes(_ voice: String) throws -> [String] {
        try [1, 0.7, 0.4].map { try take(voice, gain: $0) }
    }

    private func beckon(_ arguments: String...) throws -> Program {
        try Program.beckon(arguments, environment: ["BECKON_WORDS": words])
    }

    private func enroll(_ word: String, _ voice: String, _ more: [String] = []) throws -> Program {
        try Program.beckon(
            ["enroll", word] + more + ["--from"] + (try takes(voice)),
            environment: ["BECKON_WORDS": words]
        )
    }

    private struct Event: Decodable { var word: String }

    private func heard(_ voice: String, _ options: [String] = []) throws -> [String] {
        let program = try Program.beckon(
            ["classify", "--json"] + options + [Voices.path(voice)],
            environment: ["BECKON_WORDS": words]
        )
        #expect(program.status == 0 && program.error == "")
        return try program.lines.map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)).word }
    }

    @Test func `a word is taught from recordings, detected, listed and forgotten`() throws {
        let taught = try enroll("Mitte 2", "Rear_Center")
        #expect(taught.status == 0 && taught.error == "")
        #expect(taught.output.contains("'Mitte 2' is taught, from 3 takes.\n"))
        #expect(taught.output.contains("WRONG PER HOUR") && taught.output.contains("* is in use"))
        let mode = try FileManager.default.attributesOfItem(atPath: words)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        #expect(try heard("Rear_Center") == ["Mitte 2"])
        #expect(try heard("Rear_Center", ["--mode", "command"]) == ["Mitte 2"])
        #expect(try heard("Rear_Center", ["--words", "none"]) == [])
        #expect(try heard("Front_Left") == ["left"])

        struct Word: Decodable {
            var word: String
            var takes: Int
            var threshold, recordedSeconds: Double
        }
        let list = try beckon("words", "--json")
        let word = try JSONDecoder().decode(Word.self, from: Data(list.output.utf8))
        #expect(word.word == "Mitte 2" && word.takes == 3 && word.threshold == 0.8 && word.recordedSeconds > 2)
        #expect(try beckon("words").output.contains("Mitte 2"))

        let more = try [0.9, 0.6, 0.3].map { try take("Rear_Center", gain: $0) }
        let grown = try Program.beckon(
            ["enroll", "Mitte 2", "--more", "--no-audio", "--json", "--from"] + more,
            environment: ["BECKON_WORDS": words]
        )
        #expect(grown.output.contains("\"takes\": 6"))
        #expect(try beckon("forget", "Mitte 2").status == 0)
        #expect(try heard("Rear_Center") == [])
        #expect(try beckon("words").output == "No words were taught yet; beckon enroll WORD teaches one.\n")
    }

    @Test func `a word that is renamed is found by its new name, and what names the old one is told of`() throws {
        let files = try takes("Rear_Center")
        let environment = ["BECKON_WORDS": words, "XDG_CONFIG_HOME": folder.path]
        #expect(try Program.beckon(["enroll", "center", "--from"] + files, environment: environment).status == 0)
        _ = try folder.folder("beckon")
        try folder.write("beckon/config.json5", bytes: Array("{words: {center: {threshold: 0.7}}}".utf8))
        let renamed = try Program.beckon(["words", "rename", "center", "Mitte 2"], environment: environment)
        #expect(renamed.status == 0 && renamed.output == "Renamed: center is Mitte 2 now\n", "\(renamed.error)")
        #expect(
            renamed.error.contains(
                "words.center: names 'center'; a service starts without it, with a warning; write 'Mitte 2' here"
            ),
            "\(renamed.error)"
        )
        #expect(try heard("Rear_Center") == ["Mitte 2"])
        let shown = try Program.beckon(["words", "--json"], environment: environment).output
        #expect(shown.contains(#""word": "Mitte 2", "takes": 3"#) && !shown.contains("center"))
    }

    @Test func `unusable takes are left out, with the reason`() throws {
        let quiet = try take("Rear_Center", gain: 0.001)
        let noise = try folder.write(
            "nobody.wav",
            format: Int(SF_FORMAT_WAV | SF_FORMAT_PCM_16),
            [Float](repeating: 0, count: 24000)
        )
        let program = try Program.beckon(
            ["enroll", "center", "--from"] + takes("Rear_Center") + [
                quiet, noise, Voices.path("Front_Left"), "missing.wav",
            ],
            environment: ["BECKON_WORDS": words]
        )
        // One of the files could not be read; the word is still taught.
        #expect(program.status == 1)
        let lines = program.error.split(separator: "\n" as Character)
        #expect(lines.count == 4, "\(program.error)")
        #expect(!lines.contains { !$0.hasPrefix("beckon: ") })
        #expect(program.error.contains("nobody.wav: left out: no speech was found in it"))
        #expect(program.error.contains("Front_Left.wav: left out: does not sound like 'center'"))
        #expect(program.error.contains("missing.wav"))
        #expect(program.output.contains("from 3 takes."))
    }

    @Test func `a command that fails prints one line and leaves the words unchanged`() throws {
        #expect(try enroll("center", "Rear_Center").status == 0)
        let before = try Data(contentsOf: URL(fileURLWithPath: words))
        func refused(_ arguments: [String], _ status: Int32, _ part: String) throws {
            let program = try Program.beckon(arguments, environment: ["BECKON_WORDS": words])
            #expect(program.status == status && program.output == "", "\(arguments)")
            #expect(
                program.error.contains(part) && program.error.split(separator: "\n" as Character).count == 1,
                "\(program.error)"
            )
        }
        let voice = Voices.path("Front_Right")
        try refused(["enroll"], 2, "enroll needs the word")
        try refused(["enroll", "a", "b"], 2, "quotes")
        let quoted = "a name of several words needs quotes: beckon enroll 'hey computer'"
        try refused(["enroll", "hey", "computer", "--from", voice], 2, quoted + " --from")
        try refused(["enroll", "hey", "--from", voice, "computer"], 2, quoted + " --from")
        try refused(["enroll", "--from", voice, "hey", "computer"], 2, quoted + " --from")
        try refused(["enroll", "hey", "computer", "--more"], 2, quoted)
        try refused(["enroll", "hey", "computer", "--not", "12"], 2, quoted)
        // A folder has that name.
        let place = try TestFolder()
        try place.folder("computer")
        let beside = try Program.beckon(["enroll", "hey", "computer", "--from", voice], folder: place.path)
        #expect(beside.status == 2 && beside.error.contains(quoted), "\(beside.error)")
        try refused(["enroll", "_unknown_", "--from", voice], 2, "underscore")
        try refused(["enroll", "center", "--from", voice], 1, "is taught already; --more adds")
        try refused(["enroll", "other", "--more", "--from", voice], 1, "not taught yet")
        try refused(["forget", "nobody"], 1, "no word 'nobody' was taught; the taught words are center")
        try refused(["forget", "Centre"], 1, "no word 'Centre' was taught; did you mean 'center'?")
        try refused(["enroll", "Center", "--from", voice], 1, "did you mean beckon enroll center --more?")
        try refused(["enroll", "CENTER", "--more", "--from", voice], 1, "did you mean beckon enroll center --more?")
        try refused(
            ["enroll", "Yes", "--from", voice],
            1,
            "'yes', which the model knows; did you mean beckon enroll yes"
        )
        try refused(["words", "--replace"], 2, "--replace goes with words import")
        try refused(["forget"], 2, "forget needs the name")
        try refused(["words", "rename", "center"], 2, "words rename takes a word and its new name")
        try refused(["words", "rename", "nobody", "x"], 1, "no word 'nobody' was taught")
        try refused(["words", "rename", "center", "center"], 1, "has this name already")
        try refused(
            ["words", "rename", "center", "yes"],
            1,
            "'yes' is a word that the model knows; choose another name"
        )
        try refused(["words", "rename", "center", "a\nb"], 1, "a name is one line")
        try refused(["words", "rename", "yes", "x"], 1, "is one of the model's words, which keep their names")
        try refused(["words", "import", folder.file("none")], 1, "no such file")
        try refused(["words", "import", voice], 1, "not a word store")
        try refused(["words", "export", words], 1, "this file exists already")
        try refused(["words", "sort"], 1, "no word 'sort' was taught")
        try refused(["words", "exprot"], 1, "did you mean beckon words export?")
        try refused(["words", "hey", "you"], 2, "needs quotes: beckon words 'hey you'")
        try refused(["words", "--forget-negative", "1"], 2, "--forget-negative needs its word")
        try refused(["words", "center", "--forget-negative", "0"], 2, "a number from 1 on")
        try refused(["words", "import", words, "--forget-negative", "1"], 2, "goes with one word")
        try refused(["classify", "--words", folder.file("none"), voice], 78, "no words are kept here")
        // Reported before any take is read.
        try refused(["enroll", "x", "--words", "/proc/words", "--from", voice], 1, "/proc/words: open: ")
        #expect(try Data(contentsOf: URL(fileURLWithPath: words)) == before)
    }

    @Test func `a word is shown with its negative examples, and one can be taken back`() throws {
        #expect(try enroll("links", "Rear_Left", ["--force"]).status == 0)
        #expect(try beckon("words", "links").output.hasSuffix("No negative examples.\n"))
        let added = try beckon("enroll", "links", "--not", Voices.path("Front_Left"))
        #expect(added.status == 0, "\(added.error)")
        #expect(try heard("Front_Left") == ["left"])
        let shown = try beckon("words", "links")
        #expect(
            shown.output.contains("links: takes: 3, with recordings: 3; threshold ")
                && shown.output.contains("links --forget-negative NUMBER"),
            "\(shown.output)"
        )
        #expect(try beckon("words", "links", "--json").output.contains("\"negatives\": [{\"number\": 1, "))
        let none = try beckon("words", "links", "--forget-negative", "2")
        #expect(none.status == 1 && none.error.contains("has no negative example 2; it has 1"), "\(none.error)")
        let gone = try beckon("words", "links", "--forget-negative", "1")
        #expect(gone.status == 0 && gone.output.hasPrefix("Forgotten: negative example 1 of links; left: 0\n"))
        #expect(try beckon("words", "links", "--json").output.contains("\"negatives\": []"))
        #expect(try heard("Front_Left") == ["links"])
    }

    @Test func `words go through pipes, and an import lists all names that are taken`() throws {
        #expect(try enroll("center", "Rear_Center").status == 0)
        #expect(try enroll("side left", "Side_Left").status == 0)
        #expect(try enroll("side right", "Side_Right").status == 0)
        let other = folder.file("other")
        func shell(_ script: String) throws -> Program {
            try Program.run(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", script, Program.beckonFile.path, words, other],
                environment: ["BECKON_WORDS": words]
            )
        }
        let copied = try shell(#""$0" words export - center 'side left' | "$0" words import --words "$2" -"#)
        #expect(
            copied.status == 0 && copied.output == "Imported: center, side left\n" && copied.error == "",
            "\(copied.error)"
        )
        let again = try shell(#""$0" words export - | "$0" words import --words "$2" -"#)
        #expect(again.status == 1 && again.output == "")
        #expect(
            again.error
                == "beckon: nothing was imported, because these words are taught already: center, side left; --replace "
                + "uses the ones of the file, beckon forget removes yours\n"
        )
        #expect(try shell(#""$0" words --words "$2" --json"#).lines.count == 2)
        let replaced = try shell(#""$0" words export - | "$0" words import --replace --words "$2" -"#)
        #expect(replaced.status == 0 && replaced.output == "Imported: center, side left, side right\n")
        #expect(try shell(#""$0" words --words "$2" --json"#).lines.count == 3)
        #expect(
            try shell(#""$0" words export - > "$2" && "$0" words export "$1.all" && cmp "$2" "$1.all""#).status == 0
        )
        let broken = try shell(#"echo hello | "$0" words import -"#)
        #expect(
            broken.status == 1 && broken.error.contains("standard input")
                && broken.error.split(separator: "\n").count == 1
        )
        #expect(try shell(#""$0" words export - > /dev/full"#).status == 1)
    }

    @Test func `another model learns words from their recordings, and words without recordings are kept`() throws {
        #expect(try enroll("center", "Rear_Center").status == 0)
        let flat = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/../../Models/flatspeech"
        let other = try beckon("classify", "--model", flat, Voices.path("Rear_Center"))
        #expect(other.status == 0 && other.error == "")
        #expect(try enroll("mute", "Side_Left", ["--no-audio", "--force"]).status == 0)
        let warned = try beckon("classify", "--model", flat, Voices.path("Rear_Center"))
        #expect(warned.status == 0 && warned.error.contains("'mute' was taught to another model"))
        let refused = try enroll("mute", "Side_Left", ["--more", "--model", flat])
        #expect(refused.status == 1 && refused.error.contains("'mute' was taught to another model"))
        // Teaching the other model leaves that word to its own. Of that model's embedding these two words sound alike.
        let taught = try enroll("side right", "Front_Right", ["--model", flat, "--force"])
        #expect(taught.status == 0, "\(taught.error)")
        #expect(try heard("Side_Left") == ["mute"])
        #expect(try heard("Front_Right", ["--words", words]) == ["side right"])
    }

    // MARK: - Several programs at once

    /// Starts `beckon enroll` with these words and returns at once.
    private func start(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = Program.beckonFile
        process.arguments = ["enroll"] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["BECKON_WORDS": words]) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = Pipe()
        try process.run()
        return process
    }

    private func error(_ process: Process) -> String {
        let pipe = process.standardError as? Pipe
        let data = pipe?.fileHandleForReading.readDataToEndOfFile() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    private func takeCount(_ word: String) throws -> Int? {
        struct Word: Decodable {
            var word: String
            var takes: Int
        }
        return try beckon("words", "--json").lines
            .map { try JSONDecoder().decode(Word.self, from: Data($0.utf8)) }.first { $0.word == word }?.takes
    }

    @Test func `four programs that add a take to one word at once keep all of them`() throws {
        let file = try take("Rear_Center")
        #expect(try beckon("enroll", "same", "--from", file).status == 0)
        // The same recording would count once.
        let programs = try (1...4).map { number in
            try start(["same", "--more", "--from", try take("Rear_Center", gain: 1 - 0.1 * Float(number))])
        }
        for program in programs {
            // They may have to wait for each other for a while.
            let lines = error(program).split(separator: "\n" as Character)
            #expect(!lines.contains { !$0.contains("waiting for another program") }, "\(lines)")
            #expect(program.terminationStatus == 0)
        }
        #expect(try takeCount("same") == 5)
    }

    @Test func `of two programs that teach one new word at once, one is refused`() throws {
        let file = try take("Rear_Center")
        let programs = try (0..<4).map { _ in try start(["new", "--from", file]) }
        let errors = programs.map(error)
        #expect(programs.count { $0.terminationStatus == 0 } == 1)
        for (program, text) in zip(programs, errors) where program.terminationStatus != 0 {
            #expect(program.terminationStatus == 1)
            #expect(text.contains("'new' was taught by another program in the meantime") || text.contains("already"))
        }
        #expect(try takeCount("new") == 1)
    }

    @Test func `a wait for another program is announced, and the first interrupt ends it`() throws {
        let file = try take("Rear_Center")
        #expect(try beckon("enroll", "center", "--from", file).status == 0)
        let lock = open(words + ".lock", O_RDWR)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        let waiting = try start(["rear center", "--from", file])
        let pipe = try #require(waiting.standardError as? Pipe)
        var text = ""
        while !text.contains("\n") {
            let part = pipe.fileHandleForReading.availableData
            guard !part.isEmpty else { break }
            text += String(decoding: part, as: UTF8.self)
        }
        #expect(text.contains("waiting for another program that changes these words"), "\(text)")
        kill(waiting.processIdentifier, SIGINT)
        #expect(error(waiting).contains("interrupted; nothing was changed"))
        #expect(waiting.terminationReason == .exit && waiting.terminationStatus == 130)

        let patient = try start(["third", "--force", "--from", try take("Side_Left")])
        let output = try #require(patient.standardError as? Pipe).fileHandleForReading.availableData
        #expect(String(decoding: output, as: UTF8.self).contains("waiting for another program"))
        flock(lock, LOCK_UN)
        _ = error(patient)
        #expect(patient.terminationStatus == 0)
        #expect(try takeCount("third") == 1 && (try takeCount("rear center")) == nil)
    }

    @Test func `words are carried to another store, and a damaged one is not taken`() throws {
        #expect(try enroll("center", "Rear_Center").status == 0)
        #expect(try enroll("side left", "Side_Left").status == 0)
        let (file, other) = (folder.file("words.export"), folder.file("elsewhere"))
        #expect(try beckon("words", "export", file, "center").status == 0)
        #expect(try beckon("words", "import", file, "--words", other).status == 0)
        #expect(try heard("Rear_Center", ["--words", other]) == ["center"])
        // Existing words are not replaced.
        let twice = try beckon("words", "import", file, "--words", other)
        #expect(twice.status == 1 && twice.error.contains("these words are taught already: center; --replace"))
        var bytes = try folder.bytes("words.export")
        bytes[bytes.count / 2] ^= 1
        try folder.write("broken", bytes: bytes)
        let broken = try beckon("words", "import", folder.file("broken"), "--words", folder.file("third"))
        #expect(broken.status == 1 && broken.error.contains("damaged"))
        // With a damaged store, a service or a file job reports it and ends, instead of running without the words. They
        // do not read the recordings.
        bytes[30] ^= 1
        try folder.write("broken", bytes: bytes)
        let classified = try beckon("classify", "--words", folder.file("broken"), Voices.path("Rear_Center"))
        #expect(classified.status == 78 && classified.error.contains("damaged"))
    }

    @Test func `a store is whole whenever the program that writes it is killed`() throws {
        #expect(try enroll("word", "Rear_Center", ["--force"]).status == 0)
        let binary = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("beckon")
        let file = try take("Side_Left")
        var known: Set<String> = ["word"]
        var killed = 0
        for number in 0..<24 {
            let process = Process()
            process.executableURL = binary
            // Forced, because all of them sound alike.
            process.arguments = ["enroll", "word \(number)", "--force", "--from", file]
            process.environment = ProcessInfo.processInfo.environment.merging(["BECKON_WORDS": words]) { $1 }
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            // From at once to after its usual end.
            Thread.sleep(forTimeInterval: 0.02 * Double(number))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            if process.terminationReason == .exit { known.insert("word \(number)") } else { killed += 1 }
            let list = try beckon("words", "--json")
            #expect(list.status == 0)
            let names = Set(
                try list.lines.map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)).word }
            )
            #expect(names.isSuperset(of: known))
            known = names
        }
        #expect(killed > 0)
    }

    @Test func `a word is taught through a microphone, and the service loads it`() throws {
        // The card repeats the recording, so it needs a pause at its end.
        let pause = [Float](repeating: 1e-4, count: Voices.rate)
        let said = try folder.write(
            "said.wav",
            format: Int(SF_FORMAT_WAV | SF_FORMAT_PCM_16),
            rate: Voices.rate,
            try Voices.samples("Rear_Center") + pause
        )
        let live = try LiveProgram(playing: said, configuration: "{ device: \"mic\" }")
        #expect(live.waits { live.error.contains("listening to mic") })
        #expect(live.output == "")
        #expect(try live.ask("set", "stop=0.51").status == 0)
        let taught = try Program.beckon(
            ["enroll", "center", "--takes", "3", "--device", "mic"],
            environment: live.environment
        )
        #expect(taught.status == 0, "\(taught.error)")
        #expect(taught.output.contains("'center' is taught, from 3 takes."))
        #expect(taught.error.contains("take 3 of 3: speak now"))
        #expect(live.waits { live.output.contains("center") })
        #expect(live.error.contains("the file of taught words was read again"))
        // The threshold set for another word is kept.
        #expect(try live.status().contains("thresholds.stop: 0.51\n"))
        let named = "{ device: \"mic\", words: { center: { threshold: 0.7 } } }"
        try live.folder.write("config.json5", bytes: Array(named.utf8))
        #expect(try live.ask("reload").status == 0)
        #expect(try live.status().contains("thresholds.center: 0.7"))
        // A configuration may name a forgotten word: it is left out, with a warning, also by a reload and at the next start.
        try live.folder.folder("beckon")
        let own = try live.folder.write("beckon/config.json5", bytes: Array("{\n words: { center: {} } }".utf8))
        let forgotten = try Program.beckon(["forget", "center"], environment: live.environment)
        #expect(forgotten.status == 0 && forgotten.output == "Forgotten: center\n")
        #expect(forgotten.error.hasPrefix("beckon: \(own):2:11: "))
        #expect(forgotten.error.contains("words.center: names 'center'; a service starts without it"))
        #expect(live.waits { live.error.contains("names 'center', which is not known any more") })
        #expect(live.waits { (try? live.status().contains("thresholds.center")) == false })
        #expect(try live.ask("reload").status == 0)
        #expect(live.end() == 0)
        let again = try Program.beckon(
            [
                "listen", "--mode", "spot", "--config", live.folder.file("config.json5"), "--file",
                Voices.path("Front_Left"), "--json",
            ],
            environment: live.environment
        )
        #expect(again.status == 0 && again.output.contains("\"left\""), "\(again.error)")
        #expect(again.error.contains("names 'center', which is not known any more"))
        let checked = try Program.beckon(
            ["config", "check", live.folder.file("config.json5")],
            environment: live.environment
        )
        #expect(checked.status == 0 && checked.error.contains("warning: words.center: names 'center'"))
    }

    @Test func `a session goes through the service, with its events and actions in order`() throws {
        let rate = Voices.rate
        func pause(_ seconds: Double) -> [Float] { [Float](repeating: 1e-4, count: Int(seconds * Double(rate))) }
        // "right" outside of a session, in one, and a session without a word.
        let said =
            try pause(0.5) + Voices.samples("Rear_Right") + pause(1.5) + Voices.samples("Rear_Left") + pause(1)
            + Voices.samples("Rear_Right") + pause(1.5) + Voices.samples("Front_Left") + pause(6)
        let file = try folder.write("said.wav", format: Int(SF_FORMAT_WAV | SF_FORMAT_PCM_16), rate: rate, said)
        let log = folder.file("log")
        let script = "echo $BECKON_EVENT $BECKON_WORD $BECKON_SESSION >> \(log)"
        let run = "{ run: ['/bin/sh', '-c', '\(script)'] }"
        let text = """
            { device: 'mic', limits: { atOnce: 1 }, words: { right: { actions: [\(run)] } },
              sessions: [{ wake: 'left', words: ['right', 'stop'], seconds: 3, threshold: 0.9, onStart: [\(run)], onEnd: [\(run)] }] }
            """
        func listened() throws -> (live: LiveProgram, status: String) {
            let live = try LiveProgram(playing: file, ["--json"], keys: "loop 1 patient 1", configuration: text)
            #expect(live.waits(40) { live.output.contains("session-timeout") }, "\(live.error)")
            return (live, try live.ask("status", "--json").output)
        }
        var (live, status) = try listened()
        // On a busy machine the detector may be so late that it skips audio, which ends a session.
        for _ in 0..<3 where !status.contains("\"droppedBlocks\": 0,") {
            _ = live.end()
            try FileManager.default.removeItem(atPath: log)
            (live, status) = try listened()
        }
        #expect(status.contains("\"session\": null") && status.contains("\"wake\": \"left\""), "\(status)")
        #expect(try live.ask("status").output.contains(" mode; after left: right, stop\n"))
        struct Event: Decodable {
            var event: String
            var word, session: String?
        }
        let events = try live.output.split(separator: "\n").prefix(7).map { line in
            let event = try JSONDecoder().decode(Event.self, from: Data(line.utf8))
            return [event.event, event.word, event.session].compactMap(\.self).joined(separator: " ")
        }
        #expect(
            events == [
                "word left", "session-start left", "word right left", "session-end left", "word left",
                "session-start left", "session-timeout left",
            ]
        )
        #expect(
            live.waits {
                (try? String(contentsOfFile: log, encoding: .utf8))?.hasPrefix(
                    "session-start left\nword right left\nsession-end left\nsession-start left\nsession-timeout left\n"
                ) == true
            }
        )
        // The thresholds of its words are the session's.
        #expect(try live.status().contains("sessions[0].thresholds.right: 0.9\n"))
        #expect(live.end() == 0)
    }

    @Test func `a dataset is collected, in the layout of the public one`() throws {
        let dataset = folder.file("dataset")
        let arguments = [
            "record", "--label", "center", "--speaker", "ada", dataset, "--file", Voices.path("Front_Left"),
        ]
        for number in 0..<2 {
            let program = try Program.beckon(arguments)
            #expect(program.status == 0, "\(program.error)")
            #expect(program.output.contains("\(dataset)/center/ada_nohash_\(number).wav"))
        }
        for number in 0..<2 {
            let clip = try Voices.samples(at: "\(dataset)/center/ada_nohash_\(number).wav")
            #expect(clip.count == 16000)
        }
        let evaluated = try Program.beckon(["evaluate", dataset])
        #expect(evaluated.status == 0)
        let wrong = try Program.beckon(["record", "--label", "a/b", "--speaker", "x", dataset])
        #expect(wrong.status == 2 && wrong.error.contains("--label"))
    }
}
