import Foundation
import TestSupport
import Testing

/// Files and pipes of which one channel is the opposite of the other: it is turned in the mix, and no command is silent about it.
struct CancellingChannelsTests {
    @Test func `every command that mixes them says so once, and not with one channel`() throws {
        let folder = try TestFolder()
        // Right is the opposite of left.
        var random = SplitMix(seed: 5)
        let noise = (0..<24_000).flatMap { _ in
            let sample = Float.random(in: -0.1...0.1, using: &random)
            return [sample, -sample]
        }
        try folder.folder("clips/left")
        let file = try folder.write("clips/left/one.wav", format: 0x10002, channels: 2, noise)
        let shell = #""$0" listen - "${@:2}" < "$1""#
        for (options, count) in [([], 1), (["--channel", "0"], 0)] as [([String], Int)] {
            let programs = [
                try Program.beckon(["classify", file] + options),
                try Program.beckon(["classify", "--clips", file] + options),
                try Program.beckon(["listen", "--file", file] + options),
                try Program.beckon(["evaluate", folder.file("clips")] + options),
                try Program.run(
                    URL(fileURLWithPath: "/bin/bash"),
                    ["-c", shell, Program.beckonFile.path, file] + options
                ),
            ]
            for (number, program) in programs.enumerated() {
                let lines = program.error.split(separator: "\n").filter { $0.contains("is turned in the mix") }
                #expect(lines.count == count, "command \(number): \(program.error)")
                #expect(lines.allSatisfy { $0.contains("channel 1 is the opposite of the others") })
            }
        }
    }

    @Test func `two channels of independent noise are not fault`() throws {
        let folder = try TestFolder()
        var random = SplitMix(seed: 6)
        let noise = (0..<48_000).map { _ in Float.random(in: -0.1...0.1, using: &random) }
        let file = try folder.write("two.wav", format: 0x10002, channels: 2, noise)
        #expect(try Program.beckon(["classify", file]).error == "")
    }
}
