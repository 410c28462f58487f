import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// The texts a user reads first, held to snapshots: a change must be meant.
struct HelpTests {
    @Test(arguments: [
        (["help"], "help"), (["help", "listen"], "help-listen"), (["help", "classify"], "help-classify"),
        (["help", "evaluate"], "help-evaluate"),
        (["help", "inspect"], "help-inspect"), (["help", "devices"], "help-devices"),
        (["help", "config"], "help-config"), (["help", "bench"], "help-bench"), (["help", "doctor"], "help-doctor"),
        (["help", "mute"], "help-control"), (["help", "enroll"], "help-enroll"), (["help", "forget"], "help-words"),
        (["help", "record"], "help-record"),
    ])
    func `help is as it was`(_ arguments: [String], snapshot: String) throws {
        let program = try Program.beckon(arguments)
        #expect(program.status == 0 && program.error == "")
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Snapshots/\(snapshot).txt"
        let expected = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        #expect(
            program.output == expected,
            "if the change is meant: beckon \(arguments.joined(separator: " ")) > \(path)"
        )
    }

    @Test func `help fits 80 columns`() {
        let all =
            HelpText.overview + HelpText.listen + HelpText.classify + HelpText.evaluate + HelpText.inspect
            + HelpText.devices
            + HelpText.config + HelpText.bench + HelpText.doctor + HelpText.control + HelpText.enroll + HelpText.words
            + HelpText.record
        for line in all.split(separator: "\n") {
            #expect(line.count <= 80, "\(line)")
        }
    }

    @Test(arguments: [
        (HelpText.listen, ListenOptions.options.map(\.name)),
        (HelpText.classify, ClassifyOptions.options.map(\.name)),
        (HelpText.evaluate, EvaluateOptions.options.map(\.name)),
        (HelpText.inspect, InspectOptions.options.map(\.name)), (HelpText.devices, Devices.options.map(\.name)),
        (HelpText.config, ConfigCommand.options.map(\.name)), (HelpText.bench, BenchOptions.options.map(\.name)),
        (HelpText.doctor, Doctor.options.map(\.name)),
        (HelpText.control, ControlVerb.options.map(\.name)), (HelpText.enroll, EnrollOptions.options.map(\.name)),
        (HelpText.words, WordsCommand.options.map(\.name)), (HelpText.record, Record.options.map(\.name)),
    ])
    func `every option is explained, and every option explained exists`(_ text: String, names: [String]) {
        let explained = Set(text.matches(of: /--[a-z][a-z-]*/).map { String($0.output) })
        let known = Set(names)
        #expect(known.subtracting(explained) == ["--help"])
        #expect(explained.subtracting(known) == [])
    }

    @Test func `the same help under every name`() throws {
        let help = try Program.beckon(["help"]).output
        #expect(try Program.beckon(["--help"]).output == help)
        #expect(try Program.beckon(["-h"]).output == help)
        for command in ["listen", "classify", "evaluate", "inspect", "devices", "config", "doctor", "bench"]
            + ["enroll", "words", "forget", "record"] + ControlVerb.names
        {
            let own = try Program.beckon([command, "--help"]).output
            #expect(try Program.beckon(["help", command]).output == own)
        }
    }

    @Test func `the version is one line`() throws {
        let program = try Program.beckon(["--version"])
        #expect(program.output == "beckon \(version)\n" && program.status == 0)
    }
}
