import Foundation
import TestSupport
import Testing

/// Starts on machines whose clock, limits or preloaded libraries are unusual.
struct HostileStartTests {
    private static let left = Voices.path("Front_Left")

    private func shell(_ script: String, _ arguments: [String], _ environment: [String: String] = [:]) throws -> Program
    {
        try Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", "\(script); exec \"$0\" \"$@\"", Program.beckonFile.path] + arguments,
            environment: ["BECKON_WORDS": "/nonexistent/words", "SWIFT_BACKTRACE": "enable=no"].merging(environment) {
                $1
            }
        )
    }

    @Test func `arguments that a library has moved are those of the program`() throws {
        let moved = ["LD_PRELOAD": LiveProgram.fakeSystem, "FAKE_TITLE": "1"]
        for arguments in [["--version"], ["classify", "--json", Self.left], ["help", "classify"], ["no-such-verb"]] {
            let (usual, other) = (try Program.beckon(arguments), try Program.beckon(arguments, environment: moved))
            #expect(
                other.status == usual.status && other.output == usual.output && other.error == usual.error,
                "\(arguments)"
            )
        }
    }

    /// Seconds that the clock is ahead: from years before 1970 to far beyond 9999, and on both sides of April 2262.
    @Test(arguments: [
        -3_000_000_000, -1_770_000_000, 7_400_000_000, 7_500_000_000, 7_600_000_000, 250_000_000_000, 1 << 50,
        -(1 << 50),
    ])
    func `any time of the wall clock has a date`(_ seconds: Int) throws {
        struct Event: Decodable { let event: String, date: String? }
        let folder = try TestFolder()
        let clock = try folder.write("clock", bytes: Array("\(seconds)".utf8))
        let program = try Program.beckon(
            ["listen", "--json", "--mode", "spot", "--file", Self.left],
            environment: [
                "LD_PRELOAD": LiveProgram.fakeSystem, "FAKE_CLOCK": clock, "XDG_CONFIG_HOME": folder.path,
                "RUNTIME_DIRECTORY": folder.path,
            ]
        )
        #expect(program.status == 0, "\(program.error)")
        let dates = try program.lines.compactMap { try JSONDecoder().decode(Event.self, from: Data($0.utf8)).date }
        #expect(!dates.isEmpty)
        let year = Int(1970 + (Date().timeIntervalSince1970 + Double(seconds)) / 31_556_952)
        for date in dates {
            #expect(date.utf8.count == 24 && abs((Int(date.prefix(4)) ?? -1) - min(max(year, 0), 9999)) <= 1, "\(date)")
        }
    }

    /// MiB of address space; a sanitizer takes terabytes.
    @Test(.disabled(if: Sanitizer.isPresent), arguments: Array(stride(from: 44, through: 164, by: 8)))
    func `a limit of address space is told in one line, or suffices`(_ size: Int) throws {
        for command in [
            ["classify", Self.left], ["classify", Self.left, Voices.path("Rear_Left"), Self.left],
            ["listen", "--file", Self.left],
        ] {
            let program = try shell("ulimit -c 0; ulimit -v \(size * 1024)", command)
            // The loader's own refusal, before the program begins.
            if program.status == 127 { continue }
            let lines = program.error.split(separator: "\n")
            let isTold =
                [1, 78].contains(program.status) && lines.count == 1
                && program.error.contains("the address space is limited to \(size) MiB")
            #expect(
                isTold || program.status == 0 && program.output.contains("left"),
                "\(command) \(program.status): \(program.error)"
            )
        }
    }

    @Test func `a low limit on open files is raised, or told at the start`() throws {
        for (limit, isTold) in [("-S -n 64", false), ("-n 64", true), ("-n 200", false)] {
            let folder = try TestFolder()
            let program = try shell(
                "ulimit \(limit)",
                ["listen", "--mode", "spot", "--file", Self.left],
                ["XDG_CONFIG_HOME": folder.path, "RUNTIME_DIRECTORY": folder.path]
            )
            #expect(program.status == 0 && program.output.contains("left"), "\(program.error)")
            #expect(program.error.contains("at most 64 files may be open") == isTold, "\(program.error)")
        }
    }
}
