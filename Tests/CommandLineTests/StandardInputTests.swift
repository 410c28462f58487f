import CSndFile
import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// `beckon listen -`: audio that another program writes.
struct ListenToInputTests {
    private static let voice = Voices.path("Rear_Left")

    /// Runs a shell script; `$0` is beckon, `$1` and so on are the arguments.
    private static func shell(_ script: String, _ arguments: String...) throws -> Program {
        try Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", script, Program.beckonFile.path] + arguments,
            environment: ["XDG_CONFIG_HOME": "/nonexistent"]
        )
    }

    private struct Event: Decodable {
        var word, device: String
        var confidence, start: Double
    }

    private static func events(_ program: Program) throws -> [Event] {
        try program.lines.map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
    }

    @Test func `the words, scores and times are those of the file`() throws {
        let file = try Self.events(try Self.shell(#"exec "$0" listen --mode spot --json --file "$1""#, Self.voice))
        #expect(file.map(\.word) == ["left"])
        let folder = try TestFolder()
        let raw = try folder.write(
            "raw",
            format: SF_FORMAT_RAW | SF_ENDIAN_LITTLE | SF_FORMAT_PCM_16,
            rate: Voices.rate,
            try Voices.samples("Rear_Left")
        )
        for (script, path) in [
            (#"cat "$1" | "$0" listen --mode spot --json -"#, Self.voice),
            (#"exec "$0" listen --mode spot --json - < "$1""#, Self.voice),
            (#"cat "$1" | "$0" listen --mode spot --json --raw 48000,1,s16 -"#, raw),
            // Parts that end within a sample, with a pause between them.
            (#"(head -c 30001 "$1"; sleep 0.3; tail -c +30002 "$1") | "$0" listen --mode spot --json -"#, Self.voice),
        ] {
            let program = try Self.shell(script, path)
            let events = try Self.events(program)
            #expect(
                program.status == 0 && program.error == "beckon: listening to standard input, 48000 Hz, channels: 1\n"
            )
            #expect(events.map(\.word) == ["left"] && events.map(\.confidence) == file.map(\.confidence))
            #expect(events.map(\.start) == file.map(\.start) && events.allSatisfy { $0.device == "standard input" })
        }
    }

    @Test func `a stream that is faster than real time loses nothing, and ends with a summary`() throws {
        let folder = try TestFolder()
        let samples = try Voices.samples("Rear_Left")
        let many = try folder.write(
            "many.wav",
            format: SF_FORMAT_WAV | SF_FORMAT_PCM_16,
            rate: Voices.rate,
            (0..<20).flatMap { _ in samples }
        )
        // One of the words is at the limit: some kernels hear it, some do not.
        let count = try Program.beckon(["listen", "--mode", "spot", "--file", many]).lines.count
        #expect(count >= 19)
        let program = try Self.shell(#"cat "$1" | "$0" listen --mode spot -"#, many)
        #expect(program.status == 0 && program.lines.count == count, "\(program.output)")
        let seconds = 20 * samples.count / (Voices.rate / 100)
        let length = "0:\(seconds / 100).\(seconds % 100 < 10 ? "0" : "")\(seconds % 100)"
        #expect(
            program.error.hasSuffix("beckon: standard input: \(length) of audio; words: \(count) (left \(count))\n"),
            "\(program.error)"
        )
    }

    @Test func `a writer that stalls is reported, and Ctrl-C ends it at once`() throws {
        // The shell gives a background job /dev/null as its input, unless it is redirected: a named pipe.
        let script = #"""
            mkfifo "$2"
            (cat "$1" "$1"; exec sleep 30) > "$2" & writer=$!
            "$0" listen --mode spot --raw 48000,1,s16 - < "$2" & sleep 5
            kill -TERM $!; wait $!; status=$?
            kill $writer
            exit $status
            """#
        let folder = try TestFolder()
        // Without a header, or the audio would be over at the length that it gives. Both words are decided in the quiet after them.
        let raw = try folder.write(
            "raw",
            format: SF_FORMAT_RAW | SF_ENDIAN_LITTLE | SF_FORMAT_PCM_16,
            rate: Voices.rate,
            try Voices.samples("Rear_Left") + [Float](repeating: 0, count: Voices.rate / 2)
        )
        let program = try Self.shell(script, raw, folder.file("pipe"))
        #expect(program.status == 0 && program.lines.count == 2)
        #expect(
            program.error.contains("beckon: standard input: no audio comes; it is waited for\n"),
            "\(program.error)"
        )
        #expect(program.error.contains("of audio; words: 2 (left 2)\n"))
    }

    @Test func `a writer that dies ends it, and the words so far stay`() throws {
        let program = try Self.shell(#"(head -c 100000 "$1") | "$0" listen --mode spot -"#, Self.voice)
        #expect(program.status == 1)
        #expect(program.error.contains("the audio on standard input ends early: 0."), "\(program.error)")
    }

    @Test func `wrong uses and wrong audio are one line`() throws {
        let table: [(script: String, status: Int32, says: String)] = [
            (#"exec "$0" listen - < /dev/null"#, 1, "standard input is empty; pipe audio"),
            (#"echo hello, this is not audio | "$0" listen -"#, 1, "has no WAV header; send WAV, or give the format"),
            (#"exec "$0" listen - <&-"#, 1, "cannot read the audio on standard input"),
            (#"exec "$0" listen - <&- < /"#, 1, "cannot read the audio on standard input: Is a directory"),
            (#"exec "$0" listen - --file "$1""#, 2, "- is the audio on standard input, and cannot be combined"),
            (#"exec "$0" listen --device mic - < "$1""#, 2, "cannot be combined with --device or --file"),
            (#"exec "$0" listen --file - < "$1""#, 2, "for standard input give - alone"),
            (
                #"exec "$0" listen --raw 48000,1,s16 < "$1""#, 2,
                "--raw is the format of audio on standard input; give - for it"
            ),
            (#"exec "$0" listen --raw 48000,1 - < "$1""#, 2, "one of u8, s8, s16, s24, s24le32, s32, f32, f64"),
            (
                #"exec "$0" listen --channel 3 - < "$1""#, 1,
                "the audio on standard input has no channel 3 but only channel 0"
            ),
        ]
        for (script, status, says) in table {
            let program = try Self.shell(script, Self.voice)
            #expect(program.status == status && program.error.contains(says), "\(script): \(program.error)")
            #expect(
                program.output == "" && program.error.split(separator: "\n").count == 1,
                "\(script): \(program.error)"
            )
        }
    }
}

/// `beckon classify -`: audio on standard input.
struct StandardInputTests {
    /// Runs a shell script; `$0` is beckon, `$1` and so on are the arguments.
    private static func shell(_ script: String, _ arguments: String...) throws -> Program {
        try Program.run(URL(fileURLWithPath: "/bin/sh"), ["-c", script, Program.beckonFile.path] + arguments)
    }

    private static let voice = Voices.path("Rear_Left")

    @Test func `a file on standard input gives the words of the file`() throws {
        let folder = try TestFolder()
        let expected = try Result.all(in: try Program.beckon(["classify", "--json", Self.voice]))
        let flac = try folder.write(
            "a.flac",
            format: SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
            rate: Voices.rate,
            try Voices.samples("Rear_Left")
        )
        let ogg = try folder.write(
            "a.ogg",
            format: SF_FORMAT_OGG | SF_FORMAT_VORBIS,
            rate: Voices.rate,
            try Voices.samples("Rear_Left")
        )
        for (script, file) in [
            (#"exec "$0" classify --json - < "$1""#, Self.voice), (#"cat "$1" | "$0" classify --json -"#, Self.voice),
            (#"cat "$1" | "$0" classify --json -"#, flac), (#"cat "$1" | "$0" classify --json -"#, ogg),
        ] {
            let program = try Self.shell(script, file)
            #expect(program.status == 0 && program.error == "", "\(program.error)")
            let found = try Result.all(in: program)
            #expect(found.map(\.word) == ["left"] && found.first?.file == "-")
            if file == Self.voice { #expect(found.map(\.confidence) == expected.map(\.confidence)) }
        }
        let both = try Self.shell(#"exec "$0" classify --json "$1" - < "$2""#, Voices.path("Front_Right"), Self.voice)
        #expect(try Result.all(in: both).map(\.word) == ["right", "left"])
        let clips = try Self.shell(#"exec "$0" classify --clips --json - < "$1""#, Self.voice)
        let named = try Program.beckon(["classify", "--clips", "--json", Self.voice])
        #expect(try Result.all(in: clips).map(\.scores) == (try Result.all(in: named).map(\.scores)))
    }

    @Test func `audio without a header gives the words of the same file with one`() throws {
        let folder = try TestFolder()
        let samples = try Voices.samples("Rear_Left")
        let table: [(name: String, format: Int, channels: Int)] = [
            ("u8", SF_FORMAT_PCM_U8, 1), ("s16", SF_FORMAT_PCM_16, 1), ("S16_LE", SF_FORMAT_PCM_16, 2),
            ("s24", SF_FORMAT_PCM_24, 2), ("s32", SF_FORMAT_PCM_32, 1), ("f32", SF_FORMAT_FLOAT, 1),
        ]
        for row in table {
            let all = row.channels == 1 ? samples : samples.flatMap { [$0, $0] }
            let raw = try folder.write(
                row.name,
                format: SF_FORMAT_RAW | SF_ENDIAN_LITTLE | row.format,
                rate: Voices.rate,
                channels: row.channels,
                all
            )
            let wave = try folder.write(
                "\(row.name).wav",
                format: SF_FORMAT_WAV | row.format,
                rate: Voices.rate,
                channels: row.channels,
                all
            )
            let option = "48000,\(row.channels),\(row.name)"
            let program = try Self.shell(#"exec "$0" classify --json --raw "$1" - < "$2""#, option, raw)
            #expect(program.status == 0, "\(row.name): \(program.error)")
            let expected = try Result.all(in: try Program.beckon(["classify", "--json", wave]))
            let found = try Result.all(in: program)
            #expect(
                found.map(\.word) == ["left"] && found.map(\.confidence) == expected.map(\.confidence),
                "\(row.name)"
            )
        }
    }

    @Test func `wrong uses and wrong audio are one line`() throws {
        let table: [(script: String, status: Int32, says: String)] = [
            (#"exec "$0" classify - < /dev/null"#, 1, "standard input is empty; pipe audio"),
            (#"echo hello | "$0" classify -"#, 1, "the audio on standard input is not an audio file"),
            (#"head -c 2000 "$1" | "$0" classify -"#, 1, "the audio on standard input ends early"),
            (#"exec "$0" classify - <&-"#, 1, "cannot read the audio on standard input: Bad file descriptor"),
            (#"exec "$0" classify - - < "$1""#, 2, "standard input can be read only once"),
            (#"exec "$0" classify - --files-from - < "$1""#, 2, "standard input can be read only once"),
            (#"exec "$0" classify -0 - < "$1""#, 2, "--null says how the names of --files-from end"),
            (#"exec "$0" classify --raw 48000,1,s16 "$1""#, 2, "--raw is the format of audio on standard input"),
            (
                #"exec "$0" classify --raw 48000,1,mp3 - < "$1""#, 2,
                "one of u8, s8, s16, s24, s24le32, s32, f32, f64, such as 16000,1,s16"
            ),
            (#"exec "$0" classify --files-from /nonexistent"#, 1, "/nonexistent: cannot read this list of files"),
        ]
        for (script, status, says) in table {
            let program = try Self.shell(script, Self.voice)
            #expect(program.status == status && program.error.contains(says), "\(script): \(program.error)")
            #expect(program.output.isEmpty || program.output.hasPrefix("FILE"))
            #expect(program.error.split(separator: "\n").count == 1, "\(program.error)")
        }
    }

    @Test func `a list of names in a file is read`() throws {
        let folder = try TestFolder()
        let list = try folder.write("list", bytes: Array("\(Self.voice)\n\(Voices.path("Side_Right"))\n".utf8))
        for file in [list, "/dev/stdin"] {
            let options = ["classify", "--json", "--files-from", file, Voices.path("Front_Left")]
            let program = try Program.beckon(options, input: String(decoding: try folder.bytes("list"), as: UTF8.self))
            #expect(try Result.all(in: program).map(\.word) == ["left", "left", "right"])
        }
    }
}
