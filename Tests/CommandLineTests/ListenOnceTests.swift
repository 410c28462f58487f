import CSndFile
import Foundation
import TestSupport
import Testing

/// `beckon listen` in scripts: `--once`, `--seconds` and words for `--words`.
struct ListenOnceTests {
    private static let left = Voices.path("Front_Left")

    /// Runs a shell script; `$0` is beckon, `$1` and so on are the arguments.
    private static func shell(_ script: String, _ arguments: String...) throws -> Program {
        try Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", script, Program.beckonFile.path] + arguments,
            environment: ["XDG_CONFIG_HOME": "/nonexistent"]
        )
    }

    private static func listen(_ arguments: String...) throws -> Program {
        try Program.beckon(
            ["listen", "--mode", "spot"] + arguments,
            environment: ["XDG_CONFIG_HOME": "/nonexistent", "XDG_RUNTIME_DIR": "/nonexistent"]
        )
    }

    @Test func `the first word of a microphone is printed alone, and ends it`() throws {
        let live = try LiveProgram(playing: Self.left, ["--once"])
        #expect(live.waits { live.hasEnded })
        #expect(live.end(0) == 0 && live.output == "left\n", "\(live.output)\(live.error)")
        // Nobody asks a program for its status that ends after a word.
        #expect(!FileManager.default.fileExists(atPath: live.folder.file("control.socket")))
    }

    @Test func `a script of five lines asks yes or no`() throws {
        let script = #"""
            if "$0" listen --once --words left,right --seconds 30 --mode spot --file "$1" > /dev/null; then
                echo heard
            else
                echo "status $?"
            fi
            """#
        #expect(try Self.shell(script, Self.left).output == "heard\n")
        #expect(try Self.shell(script, Voices.path("Noise")).output == "status 3\n")
    }

    @Test func `with JSON the event is printed, of a file with many words the first`() throws {
        let folder = try TestFolder()
        let samples = try Voices.samples("Side_Left") + Voices.samples("Rear_Right")
        let file = try folder.write("two.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: Voices.rate, samples)
        for options in [[], ["--words", "right"], ["--words", "Right,left"], ["--words", "none"]] {
            let program = try Self.shell(
                #"f=$1; shift; cat "$f" | "$0" listen --mode spot --once --json "$@" -"#,
                file,
                options: options
            )
            let word = options.last == "right" ? "right" : "left"
            #expect(program.status == 0 && program.lines.count == 1, "\(program.error)")
            #expect(program.output.contains("{\"event\": \"word\", \"word\": \"\(word)\""), "\(program.output)")
        }
    }

    @Test func `a phrase that was asked for ends it, not its words`() throws {
        let folder = try TestFolder()
        // The words of a phrase follow each other within 1.5 s.
        let samples = try Voices.samples("Side_Left") + Voices.samples("Rear_Right").dropFirst(20_000)
        let file = try folder.write("two.wav", format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: Voices.rate, samples)
        let program = try Self.shell(
            #"cat "$1" | "$0" listen --mode spot --once --phrase "left right" --words left,right -"#,
            file
        )
        #expect(program.status == 0 && program.output == "left right\n", "\(program.error)")
        let other = try Self.listen("--once", "--phrase", "left right", "--words", "left", "--file", file)
        #expect(other.status == 2)
        #expect(other.error.contains("needs the word 'right', which is not among --words"), "\(other.error)")
    }

    @Test func `without a word the status is 3, with a line that says so`() throws {
        // The word is heard, but it may not fire.
        let live = try LiveProgram(playing: Self.left, ["--once", "--words", "yes,no", "--seconds", "2.5"])
        #expect(live.waits { live.hasEnded })
        #expect(live.end(0) == 3 && live.output == "" && live.error.hasSuffix("beckon: no word came within 2.5 s\n"))
        // Without a microphone, too.
        let missing = try LiveProgram(
            playing: Self.left,
            ["--once", "--seconds", "1"],
            configuration: "{ device: 'nothere' }"
        )
        #expect(missing.waits { missing.hasEnded })
        #expect(missing.end(0) == 3 && missing.error.contains("nothere"), "\(missing.error)")
        #expect(missing.error.hasSuffix("beckon: no word came within 1 s\n"))
        // A writer that sends nothing.
        let pipe = try Self.shell(#"sleep 20 | "$0" listen --once --seconds 1 --raw 16000,1,s16 -; kill $!"#)
        #expect(pipe.error.contains("no word came within 1 s"), "\(pipe.error)")
        // Audio that ends before.
        let file = try Self.listen("--once", "--words", "yes", "--file", Self.left)
        #expect(file.status == 3 && file.error == "beckon: no word came\n")
    }

    @Test func `seconds alone end it after all words of that time`() throws {
        let live = try LiveProgram(playing: Self.left, ["--seconds", "4"])
        #expect(live.waits { live.hasEnded })
        #expect(live.end(0) == 0 && live.output.contains("  left  "), "\(live.output)\(live.error)")
        let file = try Self.listen("--seconds", "0.3", "--file", Self.left)
        #expect(file.status == 3 && !file.output.contains("  left  "))
    }

    @Test func `the word runs its actions before the end, and no other word does`() throws {
        let folder = try TestFolder()
        let action = "{ run: ['/bin/sh', '-c', 'echo $BECKON_WORD >> \(folder.file("words"))'] }"
        let live = try LiveProgram(
            playing: Self.left,
            ["--once"],
            configuration: "{ device: 'mic', actions: [\(action)], web: { listen: 'unix://\(folder.file("web"))' } }"
        )
        #expect(live.waits { live.hasEnded })
        #expect(live.end(0) == 0)
        #expect(String(decoding: try folder.bytes("words"), as: UTF8.self) == "left\n")
        #expect(!FileManager.default.fileExists(atPath: folder.file("web")))
    }

    @Test func `Ctrl-C ends it as any command`() throws {
        let live = try LiveProgram(playing: Self.left, ["--once", "--words", "yes"])
        #expect(live.waits { live.error.contains("listening to mic") })
        #expect(live.end(SIGINT) == 130 && live.output == "")
        let stopped = try LiveProgram(playing: Self.left, ["--once", "--words", "yes"])
        #expect(stopped.waits { stopped.error.contains("listening to mic") })
        // A stop is not a word.
        #expect(stopped.end() == 3)
    }

    @Test(arguments: [
        (["--words", "yes,nope"], 78, "the model does not know the word 'nope'; it knows yes, no, up"),
        (["--words", "lefft"], 78, "the word 'lefft'; did you mean 'left'? It knows yes, no, up, down"),
        (["--words", "computer"], 78, "it knows yes, no, up, down, left, right, on, off, stop, go"),
        (["--words", "yes,,no"], 2, "--words takes words with commas between, such as yes,no, or a file"),
        (["--words", "a.words", "--words", "./b"], 2, "--words names two files, 'a.words' and './b'"),
        (["--seconds", "0"], 2, "--seconds takes seconds of at least 0.1, such as 5, not '0'"),
        (["--words", "./nofile"], 78, "./nofile: no words are kept here"),
    ])
    func `mistakes are one line`(_ options: [String], status: Int32, part: String) throws {
        let program = try Program.beckon(["listen", "--once", "--file", Self.left] + options)
        #expect(program.status == status && program.output == "")
        #expect(program.error.contains(part) && program.error.split(separator: "\n").count == 1, "\(program.error)")
    }

    @Test func `only the words that are named are found in files and shown by inspect`() throws {
        let both = [Voices.path("Side_Left"), Voices.path("Rear_Right")]
        let found = try Program.beckon(["classify", "--json", "--words", "RIGHT,yes"] + both)
        #expect(found.status == 0 && found.lines.count == 1 && found.output.contains("\"word\": \"right\""))
        let page = try Program.beckon(["inspect", "--json", "--words", "right", Voices.path("Side_Left")])
        #expect(page.output.contains("\"events\": []") && page.output.contains("\"thresholds\": {\"right\": "))
        let evaluated = try Program.beckon(["evaluate", "--stream", "--words", "yes,no", Voices.path("Side_Left")])
        #expect(
            evaluated.status == 78 && evaluated.error.contains("yes,no: no words are kept here"),
            "\(evaluated.error)"
        )
        // A file that is still to be written is a file, whatever its name.
        let folder = try TestFolder()
        let taught = try Program.beckon(
            ["enroll", "door", "--words", "door", "--from", Voices.path("Rear_Center")],
            folder: folder.path
        )
        #expect(taught.status == 0 && FileManager.default.fileExists(atPath: folder.file("door")), "\(taught.error)")
        let listed = try Program.beckon(["words", "--words", "door"], folder: folder.path)
        #expect(listed.status == 0 && listed.output.contains("door"), "\(listed.error)")
    }
}

extension ListenOnceTests {
    fileprivate static func shell(_ script: String, _ file: String, options: [String]) throws -> Program {
        try Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", script, Program.beckonFile.path, file] + options,
            environment: ["XDG_CONFIG_HOME": "/nonexistent"]
        )
    }
}
