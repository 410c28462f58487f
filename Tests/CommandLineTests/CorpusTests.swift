import CSndFile
import Foundation
import TestSupport
import Testing

/// `beckon classify` over many files: results in a file, going on after a kill, shards, workers.
struct CorpusTests {
    /// A folder of short files: voices, silence, damaged and empty ones.
    private static func corpus(_ count: Int) throws -> TestFolder {
        let folder = try TestFolder()
        let voices = try ["Front_Left", "Rear_Right", "Side_Left"].map { try Voices.samples($0) }
        for number in 0..<count {
            let name = "\(number).wav"
            if number % 11 == 7 {
                try folder.write(name, bytes: number % 2 == 0 ? [] : [1, 2, 3])
            } else {
                let samples = number % 3 == 0 ? voices[number / 3 % 3] : [Float](repeating: 0, count: 8000)
                try folder.write(name, format: SF_FORMAT_WAV | SF_FORMAT_PCM_16, rate: Voices.rate, samples)
            }
        }
        return folder
    }

    /// Runs beckon in a folder; `$0` is beckon.
    private static func shell(_ script: String, in folder: TestFolder) throws -> Program {
        try Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", "cd \"$1\" || exit 9; " + script, Program.beckonFile.path, folder.path]
        )
    }

    @Test(arguments: ["json", "csv", "records", "json --clips"])
    func `the file of --output has what standard output has, and going on leaves it so`(_ format: String) throws {
        let folder = try Self.corpus(24)
        let work = try TestFolder()
        func run(_ options: String) throws -> Program {
            try Program.run(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", "cd \"$1\" && exec \"$0\" classify \(options) .", Program.beckonFile.path, folder.path]
            )
        }
        let plain = try run("--format \(format)")
        #expect(plain.status == 1 && plain.lines.count >= 7, "\(plain.error)")
        let results = work.file("results")
        let whole = try run("--format \(format) --output \(results) --resume")
        #expect(whole.status == 1 && whole.output == "" && whole.error == plain.error)
        #expect(try String(contentsOfFile: results, encoding: .utf8) == plain.output)
        // A kill: the journal ends within a line, and the results have more than it says.
        let journal = try work.bytes("results.journal")
        for part in [0, 30, journal.count / 2, journal.count - 1, journal.count] {
            try work.write("results.journal", bytes: Array(journal[..<part]))
            let again = try run("--format \(format) --output \(results) --resume")
            #expect(again.status == 1 && again.output == "", "\(again.error)")
            #expect(try String(contentsOfFile: results, encoding: .utf8) == plain.output)
            #expect(try work.bytes("results.journal") == journal)
        }
        // Nothing is done again.
        let none = try run("--stats --format \(format) --output \(results) --resume")
        #expect(none.status == 1 && none.error.hasPrefix("0 files, 0.0 s of audio"), "\(none.error)")
        let other = try run("--format \(format) --threshold 0.93 --output \(results) --resume")
        #expect(other.status == 1 && other.error.contains("was begun with other options"))
        #expect(try String(contentsOfFile: results, encoding: .utf8) == plain.output)
    }

    @Test func `shards together give the results of all files`() throws {
        let folder = try Self.corpus(24)
        let plain = try Self.shell(#"exec "$0" classify --format records ."#, in: folder)
        var lines: [Substring] = []
        for number in 1...4 {
            let shard = try Self.shell(#""$0" classify --format records --shard \#(number)/4 . || true"#, in: folder)
            #expect(shard.status == 0)
            lines += shard.lines
        }
        #expect(lines.sorted() == plain.lines.sorted() && plain.lines.count == 24)
    }

    @Test func `an interrupted run says how to go on`() throws {
        let folder = try Self.corpus(24)
        let script = #"""
            mkfifo names; (find . -name '*.wav' | sort; exec sleep 30) > names & writer=$!
            "$0" classify --json --output r.json --files-from names & sleep 4; kill -INT $!; sleep 0.3; kill $writer; wait $!; echo $?
            """#
        let program = try Self.shell(script, in: folder)
        #expect(program.output == "130\n", "\(program.output)")
        #expect(program.error.contains("interrupted after 24 files"), "\(program.error)")
        #expect(program.error.contains("the same command with --resume goes on from here"))
    }

    @Test func `a worker answers each request before the next`() throws {
        let folder = try Self.corpus(9)
        let plain = try Self.shell(#"exec "$0" classify --format records 0.wav 7.wav 3.wav"#, in: folder)
        let script = #"""
            mkfifo in out
            "$0" classify --worker < in > out & worker=$!
            exec 3> in 4< out
            for name in 0.wav 7.wav 3.wav; do
                printf '{"file": "%s"}\n' $name >&3; IFS= read -r line <&4; printf '%s\n' "$line"
            done
            exec 3>&-; wait $worker
            """#
        let worker = try Self.shell(script, in: folder)
        #expect(worker.status == 0 && worker.output == plain.output && worker.lines.count == 3, "\(worker.output)")
        let bytes = try Self.shell(
            #"""
            for name in 0.wav 7.wav 3.wav; do
                printf '{"name": "%s", "bytes": %d}\n' $name "$(wc -c < $name)"; cat $name
            done | "$0" classify --worker
            """#,
            in: folder
        )
        #expect(bytes.status == 0 && bytes.output == plain.output, "\(bytes.output)")
    }

    @Test func `errors of a worker are answers`() throws {
        let folder = try Self.corpus(1)
        let table: [(input: String, status: Int32, answers: [String])] = [
            (#"{"file": "none.wav"}\n{}\n"#, 0, ["audio file 'none.wav' does not exist", "a request needs either"]),
            (
                #"{"name": "a", "bytes": 3}\nabc{"file": "/dev/null"}\n"#, 0,
                ["'a' is not an audio file", "is a pipe or a device"]
            ),
            (#"{"name": "e", "bytes": 0}\n"#, 0, ["audio file 'e' is empty"]),
            (#"nonsense\n{"file": "0.wav"}\n"#, 1, ["not a request"]),
            (#"{"name": "a", "bytes": 30}\nabc"#, 1, ["27 bytes of the last request are missing"]), ("", 0, []),
        ]
        for (input, status, answers) in table {
            let program = try Self.shell("printf '\(input)' | exec \"$0\" classify --worker", in: folder)
            #expect(program.status == status && program.lines.count == answers.count, "\(input): \(program.output)")
            for (line, says) in zip(program.lines, answers) {
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                #expect((object?["error"] as? String)?.contains(says) == true, "\(line)")
                #expect(object?["file"] is String && object?["seconds"] as? Double == 0)
            }
        }
    }

    @Test func `wrong uses are one line`() throws {
        let folder = try Self.corpus(1)
        let table: [(options: String, says: String)] = [
            ("--resume .", "--resume continues the file of --output"),
            ("--output x .", "--output needs a format: a name that ends in .csv or .json"),
            ("--json --output x --resume -", "--resume is for files"),
            ("--shard 0/4 .", "--shard takes a part and the number of parts, such as 3/16, not '0/4'"),
            ("--worker 0.wav", "give neither files nor output options"), ("--worker --json", "give neither files"),
            ("--format audacity --output x --resume .", "--resume continues the file of --output"),
        ]
        for (options, says) in table {
            let program = try Self.shell("exec \"$0\" classify \(options) < /dev/null", in: folder)
            #expect(program.status == 2 && program.error.contains(says), "\(options): \(program.error)")
        }
    }
}
