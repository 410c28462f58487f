import CSndFile
import Foundation
import TestSupport
import Testing

/// Every command that reads audio reads it to its real end, and tells the layout of its samples.
struct RealEndCommandTests {
    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// WAV of "left" with its header given; 44 bytes before the audio.
    private static func wave(declared: Int?, bits: Int = 16, block: Int = 2, channels: Int = 1, _ audio: [UInt8])
        -> [UInt8]
    {
        Array("RIFF".utf8) + little((declared ?? audio.count) + 36, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
            + little(1, 2)
            + little(channels, 2) + little(Voices.rate, 4) + little(Voices.rate * block, 4) + little(block, 2)
            + little(bits, 2)
            + Array("data".utf8) + little(declared ?? audio.count, 4) + audio
    }

    private static func samples(_ name: String = "Rear_Left") throws -> [Int16] {
        try Voices.samples(name).map { Int16(max(-32_768, min(32_767, $0 * 32_768))) }
    }

    private static func bytes(_ samples: [Int16]) -> [UInt8] { samples.flatMap { little(Int($0), 2) } }

    /// The words that a command found in a file, and what it said.
    private static func words(_ command: String, _ path: String, _ options: String = "") throws -> (
        words: [String], program: Program
    ) {
        let script =
            switch command {
            case "worker": #"printf '{"file": "%s"}\n' "$1" | "$0" classify --worker"#
            case "pipe": #"cat "$1" | "$0" listen --mode spot --json"# + " \(options) -"
            case "file": #"exec "$0" listen --mode spot --json"# + " \(options) " + #"--file "$1""#
            case "inspect": #"exec "$0" inspect --mode spot --json"# + " \(options) " + #""$1""#
            default: #"exec "$0" classify --json"# + " \(options) " + #""$1""#
            }
        let program = try Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", script, Program.beckonFile.path, path],
            environment: ["XDG_CONFIG_HOME": "/nonexistent"]
        )
        // `inspect` also tells what networks refused.
        let output = program.output.replacing(/"refused": \{[^}]*\}/, with: "")
        let found = output.matches(of: /"word" ?: ?"([a-z]+)"/).map { String($0.1) }
        return (found.filter { $0 != "unknown" && $0 != "silence" }, program)
    }

    private static let commands = ["classify", "worker", "file", "pipe", "inspect"]

    @Test(arguments: commands) func `a header that is wrong loses no word`(_ command: String) throws {
        let folder = try TestFolder()
        let (left, right) = (try Self.bytes(Self.samples()), try Self.bytes(Self.samples("Rear_Right")))
        let files: [(name: String, bytes: [UInt8], words: [String])] = [
            ("zero.wav", Self.wave(declared: 0, left), ["left"]),
            ("buffer.wav", Self.wave(declared: 4096, left + right), ["left", "right"]),
            ("joined.wav", Self.wave(declared: nil, left) + Self.wave(declared: nil, right), ["left", "right"]),
            (
                "late.wav",
                Array(Self.wave(declared: nil, left)[..<36]) + Array("JUNK".utf8) + Self.little(3 << 20, 4)
                    + [UInt8](repeating: 7, count: 3 << 20) + Self.wave(declared: nil, left)[36...], ["left"]
            ),
        ]
        for file in files {
            let (words, program) = try Self.words(command, try folder.write(file.name, bytes: file.bytes))
            #expect(words == file.words && program.status == 0, "\(file.name): \(program.output) \(program.error)")
        }
    }

    @Test(arguments: commands) func `bytes that are not audio are one line and a status of 1`(_ command: String) throws
    {
        let folder = try TestFolder()
        let trash = Array("this is not audio, it is text that somebody appended\n".utf8)
        let path = try folder.write(
            "trash.wav",
            bytes: Self.wave(declared: nil, Self.bytes(try Self.samples())) + trash
        )
        let (words, program) = try Self.words(command, path)
        #expect(words == ["left"], "\(program.output)")
        let text = command == "worker" ? program.output : program.error
        #expect(text.contains("\(trash.count) bytes from byte") && text.contains("not a chunk"), "\(text)")
        if command != "worker" { #expect(program.status == 1, "\(program.error)") }
    }

    @Test(arguments: commands) func `24 bits in 4 bytes are loud, and where the header is wrong one line says so`(
        _ command: String
    ) throws {
        let folder = try TestFolder()
        let audio = try Self.samples().flatMap { Self.little(Int($0) << 8 | 1, 4) }
        for bits in [24, 32] {
            let path = try folder.write("\(bits).wav", bytes: Self.wave(declared: nil, bits: bits, block: 4, audio))
            let (words, program) = try Self.words(command, path)
            #expect(words == ["left"] && program.status == 0, "\(program.error)")
            let lines = program.error.split(separator: "\n").filter { $0.contains("s24le32") }
            #expect(lines.count == (bits == 32 ? 1 : 0), "\(program.error)")
        }
        let floats = try folder.write(
            "floats.wav",
            format: SF_FORMAT_WAV | SF_FORMAT_FLOAT,
            rate: Voices.rate,
            try Voices.samples("Rear_Left").map { $0 * 32_768 }
        )
        let (words, program) = try Self.words(command, floats)
        #expect(words == ["left"] && program.status == 0)
        #expect(
            program.error.split(separator: "\n").filter { $0.contains("floats of up to ±32768") }.count == 1,
            "\(program.error)"
        )
    }

    @Test func `a channel of an array is chosen before the limit of 8 counts`() throws {
        let folder = try TestFolder()
        let audio = try Self.samples().flatMap {
            [Int16](repeating: 0, count: 5) + [$0] + [Int16](repeating: 0, count: 10)
        }
        let path = try folder.write(
            "array.wav",
            bytes: Self.wave(declared: nil, block: 32, channels: 16, Self.bytes(audio))
        )
        for command in Self.commands where command != "worker" {
            let (words, program) = try Self.words(command, path, "--channel 5")
            #expect(words == ["left"] && program.status == 0, "\(command): \(program.error)")
            let mixed = try Self.words(command, path).program
            #expect(
                mixed.status == 1 && mixed.error.contains("has 16 channels, and up to 8 are mixed; choose some"),
                "\(mixed.error)"
            )
        }
    }

    @Test func `a list of names may begin with a mark of its byte order`() throws {
        let folder = try TestFolder()
        let names = "\u{FEFF}\(Voices.path("Rear_Left"))\r\n\(Voices.path("Rear_Right"))\r\n"
        let list = try folder.write("list", bytes: Array(names.utf8))
        let found = try Program.beckon(["classify", "--json", "--files-from", list])
        #expect(found.status == 0 && found.lines.count == 2, "\(found.error)")
        let worker = try Program.beckon(
            ["classify", "--worker"],
            input: "\u{FEFF}{\"file\": \"\(Voices.path("Rear_Left"))\"}\n"
        )
        #expect(worker.output.contains("\"left\""), "\(worker.output)")
    }

    @Test func `pages of recordings of equal names do not replace each other`() throws {
        let folder = try TestFolder()
        for (name, voice) in [("a", "Rear_Left"), ("b", "Rear_Right")] {
            try folder.folder(name)
            try folder.write("\(name)/talk.wav", bytes: Self.wave(declared: nil, Self.bytes(try Self.samples(voice))))
        }
        func inspect(_ file: String) throws -> String {
            try Program.run(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", #"cd "$1" && exec "$0" inspect "$2""#, Program.beckonFile.path, folder.path, file]
            ).output
        }
        #expect(try inspect("a/talk.wav") == "talk.html\n")
        #expect(try inspect("b/talk.wav") == "talk-2.html\n")
        // The page of the same recording is replaced.
        #expect(try inspect("a/../a/talk.wav") == "talk.html\n")
        #expect(try inspect("b/talk.wav") == "talk-2.html\n")
    }
}
