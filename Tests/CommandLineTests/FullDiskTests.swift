import Foundation
import TestSupport
import Testing

/// Standard output to a full disk: `> /dev/full`.
struct FullDiskTests {
    private static func beckon(
        _ arguments: [String],
        output: String = "/dev/full",
        input: String? = nil
    ) throws -> Program {
        let script = #"output=$1; shift; exec "$0" "$@" > "$output""#
        let words = ["-c", script, Program.beckonFile.path, output] + arguments
        return try Program.run(URL(fileURLWithPath: "/bin/sh"), words, input: input)
    }

    private static let voice = Voices.path("Side_Left")
    private static let line = "beckon: cannot write to standard output: No space left on device\n"

    static let commands: [[String]] = [
        ["classify", "--json", voice], ["classify", voice, voice], ["classify", "--clips", "--json", voice],
        ["listen", "--file", voice, "--json"], ["inspect", "--json", voice], ["inspect", "--output", "-", voice],
        ["words"], ["help"], ["help", "listen"], ["listen", "--help"], ["--version"], ["config", "show"],
        ["generate", "bash"],
    ]

    @Test(arguments: commands)
    func `ends the command with one line and status 1`(_ arguments: [String]) throws {
        let program = try Self.beckon(arguments)
        #expect(program.status == 1)
        #expect(program.error == Self.line)
    }

    @Test func `ends long work early`() throws {
        // Minutes of work: the same file, 20 000 times.
        let list = Array(repeating: Self.voice, count: 20_000).joined(separator: "\n")
        let program = try Self.beckon(["classify", "--json", "-"], input: list)
        #expect(program.status == 1 && program.error == Self.line)
    }

    @Test func `is reported beside a failure of the command itself`() throws {
        let program = try Self.beckon(["classify", "--json", Self.voice, "/nonexistent.wav"])
        #expect(program.status == 1 && program.error.hasSuffix(Self.line))
    }

    @Test func `does not matter to a command that prints nothing`() throws {
        let program = try Self.beckon(["classify", "--json", "--threshold", "0.9999", Self.voice])
        #expect(program.status == 0 && program.error == "")
        #expect(try Self.beckon(["classify", "--json", Self.voice], output: "/dev/null").status == 0)
    }
}
