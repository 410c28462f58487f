import CSndFile
import Foundation
import TestSupport
import Testing

/// `beckon listen --run`: words run programs without a configuration.
struct ListenRunTests {
    private static let left = Voices.path("Front_Left")

    /// A folder with the program `note`, which adds a line of what it got to the file `said`.
    private struct Notes {
        let folder: TestFolder
        var lines: [String] {
            let text = (try? folder.bytes("said")).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return text.split(separator: "\n").map(String.init)
        }

        init() throws {
            folder = try TestFolder()
            let program = #"""
                #!/bin/sh
                echo "$1:$BECKON_EVENT:$BECKON_WORD:${BECKON_CONFIDENCE%%.*}:${BECKON_TIME:+time}:${PWD##*/}" >> "${0%/*}/said"
                """#
            for name in ["note", "no te"] {
                try folder.write(name, bytes: Array(program.utf8))
                chmod(folder.file(name), 0o755)
            }
            try folder.write("plain", bytes: [])
            mkdir(folder.file("sub"), 0o755)
        }

        func listen(_ arguments: [String], input: Bool = false, configuration: String? = nil) throws -> Program {
            if let configuration { try folder.write("c.json5", bytes: Array(configuration.utf8)) }
            let rest =
                ["--mode", "spot"] + (configuration == nil ? [] : ["--config", folder.file("c.json5")]) + arguments
            let environment = [
                "XDG_CONFIG_HOME": "/nonexistent", "XDG_RUNTIME_DIR": "/nonexistent",
                "PATH": "\(folder.path):/usr/bin:/bin",
            ]
            if input {
                return try Program.run(
                    URL(fileURLWithPath: "/bin/sh"),
                    [
                        "-c", #"f=$1; shift; cat "$f" | "$0" listen "$@" -"#, Program.beckonFile.path,
                        ListenRunTests.left,
                    ] + rest,
                    environment: environment,
                    folder: folder.path
                )
            }
            return try Program.beckon(
                ["listen", "--file", ListenRunTests.left] + rest,
                environment: environment,
                folder: folder.path
            )
        }
    }

    /// What runs, by the option.
    private static let table: [(options: [String], configuration: String?, lines: [String])] = [
        (["left=./note"], nil, [":word:left:0:time"]), (["*=note"], nil, [":word:left:0:time"]),
        (["Left=note"], nil, [":word:left:0:time"]), (["left = note  a b "], nil, ["a:word:left:0:time"]),
        (["left=./no te"], nil, [":word:left:0:time"]), (["right=./note"], nil, []),
        (["*=note all", "left=note own"], nil, ["own:word:left:0:time"]),
        (["left=note 1", "left=note 2"], nil, ["1:word:left:0:time", "2:word:left:0:time"]),
        (["left=note 1"], "{ words: { left: { actions: [{ run: ['/nonexistent'] }] } } }", ["1:word:left:0:time"]),
        (["*=note 1"], "{ words: { left: { actions: [{ run: ['/nonexistent'] }] } } }", ["1:word:left:0:time"]),
        (["right=note 1"], "{ actions: [{ print: '{word}' }] }", []),
    ]

    @Test(arguments: table)
    func `a word runs the programs that the command line names`(
        _ row: (options: [String], configuration: String?, lines: [String])
    ) throws {
        for input in [false, true] {
            let notes = try Notes()
            let options = row.options.flatMap { ["--run", $0] }
            let program = try notes.listen(options, input: input, configuration: row.configuration)
            let folder = URL(fileURLWithPath: notes.folder.path).lastPathComponent
            #expect(program.status == 0, "\(program.error)")
            #expect(notes.lines.sorted() == row.lines.map { "\($0):\(folder)" }, "\(row.options) \(program.error)")
        }
    }

    @Test func `with an end of its own it waits for the program`() throws {
        for options in [["--once"], ["--seconds", "30"], ["--once", "--json"], ["--words", "left,yes", "--once"]] {
            let notes = try Notes()
            let program = try notes.listen(["--run", "left=./note"] + options)
            #expect(program.status == 0 && notes.lines.count == 1, "\(options) \(program.error)")
        }
    }

    @Test func `a phrase runs a program of its own`() throws {
        let notes = try Notes()
        let samples = try Voices.samples("Side_Left") + Voices.samples("Rear_Right").dropFirst(20_000)
        let file = try notes.folder.write(
            "two.wav",
            format: SF_FORMAT_WAV | SF_FORMAT_PCM_16,
            rate: Voices.rate,
            samples
        )
        let program = try Program.beckon(
            [
                "listen", "--mode", "spot", "--file", file, "--phrase", "left right", "--run", "Left  right=./note p",
                "--run", "right=./note r",
            ],
            environment: ["XDG_CONFIG_HOME": "/nonexistent"],
            folder: notes.folder.path
        )
        let heads = notes.lines.map { $0.split(separator: ":").prefix(3).joined(separator: ":") }.sorted()
        #expect(heads == ["p:phrase:left right", "r:word:right"], "\(program.error)")
    }

    /// One line, before anything is opened: the file that is to be played does not exist.
    @Test(
        arguments: [
            (["left"], 2, ["takes WORD=PROGRAM"]), (["=./note"], 2, ["takes WORD=PROGRAM", "'*=./note'"]),
            (["./note"], 2, ["did you mean '*=./note'?"]), (["left="], 2, ["takes WORD=PROGRAM"]),
            ([""], 2, ["WORD=PROGRAM"]),
            (["lefft=./note"], 78, ["--run lefft", "'lefft'", "did you mean 'left'?"]),
            (["computer=./note"], 78, ["--run computer", "it knows"]),
            (["_silence_=./note"], 78, ["does not know the word"]),
            (["left=./nothere"], 78, ["--run left: no such program", "nothere"]),
            (["left=nothere"], 78, ["--run left: no such program: nothere", "left=/path/program"]),
            (["*=/nonexistent/x y"], 78, ["--run *: no such program: /nonexistent/x"]),
            (["left=./plain"], 78, ["may not be executed", "chmod +x"]), (["left=./sub"], 78, ["is a folder"]),
            (["left=note 'a b'"], 78, ["no shell is involved"]), (["left=note $x | y"], 78, ["no shell is involved"]),
            (["left=./note", "--words", "yes"], 78, ["--run left", "--words"]),
        ] as [([String], Int32, [String])]
    )
    func `a mistake is one line`(_ options: [String], status: Int32, says: [String]) throws {
        let notes = try Notes()
        let program = try Program.beckon(
            ["listen", "--file", "/nonexistent/a.wav", "--run"] + options,
            environment: ["XDG_CONFIG_HOME": "/nonexistent", "PATH": "\(notes.folder.path):/usr/bin:/bin"],
            folder: notes.folder.path
        )
        #expect(program.status == status && program.output == "", "\(program.error)")
        #expect(program.error.split(separator: "\n").count == 1, "\(program.error)")
        for part in says { #expect(program.error.contains(part), "\(part): \(program.error)") }
    }

    @Test func `a word that the configuration has off cannot run a program`() throws {
        let notes = try Notes()
        let program = try notes.listen(
            ["--run", "left=./note"],
            configuration: "{ words: { left: { enabled: false } } }"
        )
        #expect(program.status == 78 && program.error.contains("enable it"), "\(program.error)")
        #expect(program.error.split(separator: "\n").count == 1)
    }
}
