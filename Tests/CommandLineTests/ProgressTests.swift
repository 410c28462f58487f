import CSndFile
import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

struct ProgressTests {
    @Test func `the progress bar stays within the terminal`() {
        let name = String(repeating: "x", count: 200)
        var status = Progress.Status(done: 3, files: 10, share: 0.35, speed: 5210, left: 725, name: name)
        let line = Progress.line(status, width: 80)
        #expect(line.hasPrefix("███████░░░░░░░░░░░░░ 35 %  3/10  5210 × real time  12 min 5 s left  xxx"))
        for width in [0, 1, 20, 40, 80] { #expect(Progress.line(status, width: width).count <= max(0, width - 1)) }
        (status.files, status.share, status.left) = (nil, nil, nil)
        #expect(Progress.line(status, width: 60).hasPrefix("3 files  5210 × real time  xxx"))
    }

    /// Where results go while the bar is on a terminal.
    enum Output: CaseIterable {
        /// Standard output is a file.
        case file
        /// `--output`, while standard output is the terminal too.
        case option
        /// Standard output is another terminal.
        case otherTerminal
        /// Standard output is the terminal.
        case terminal
    }

    @Test(arguments: Output.allCases)
    func `results erase the bar only where they go to its terminal`(_ output: Output) throws {
        // Long enough for some bars, with a word every two seconds.
        let folder = try TestFolder()
        let voice = try Voices.samples("Front_Left") + [Float](repeating: 0, count: 24_000)
        let said = try folder.write(
            "said.wav",
            format: Int(SF_FORMAT_WAV | SF_FORMAT_PCM_16),
            rate: Voices.rate,
            (0..<60).flatMap { _ in voice }
        )
        let terminal = try PseudoTerminal(columns: 100, rows: 24)
        let other = try PseudoTerminal(columns: 100, rows: 24)
        let process = Process()
        process.executableURL = Program.beckonFile
        let results = folder.file("results")
        let named = output == .option ? ["--output", results] : []
        process.arguments = ["classify", "--words", "none", "--json", "--jobs", "1"] + named + [said, said]
        process.environment = ProcessInfo.processInfo.environment.merging(["TERM": "xterm"]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardError = try terminal.open()
        switch output {
        case .file:
            try folder.write("results", bytes: [])
            process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: results))
        case .option, .terminal: process.standardOutput = try terminal.open()
        case .otherTerminal: process.standardOutput = try other.open()
        }
        try process.run()
        #expect(
            comesTrue(within: 120) {
                terminal.update()
                other.update()
                return !process.isRunning
            }
        )
        terminal.update()
        other.update()
        let shown = output == .otherTerminal ? other.written : output == .terminal ? terminal.written : ""
        let text = shown.isEmpty ? String(decoding: try folder.bytes("results"), as: UTF8.self) : shown
        #expect(process.terminationStatus == 0 && text.components(separatedBy: "\"left\"").count > 100)
        let parts = terminal.written.components(separatedBy: "\r\u{1B}[K").dropFirst()
        let bars = parts.count { $0.contains("█") || $0.contains("░") }
        let erasures = parts.count - bars
        #expect(bars >= 1, "\(terminal.written.prefix(400))")
        if output == .terminal { #expect(erasures >= 1) } else { #expect(erasures == 1, "\(bars) bars") }
    }
}
