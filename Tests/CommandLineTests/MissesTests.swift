import Foundation
import System
import TestSupport
import Testing

/// `beckon misses` and `beckon enroll --not` beside a running service.
struct MissesTests {
    @Test func `a nearly detected word is listed, and its clip can be exported`() throws {
        let folder = try TestFolder()
        let live = try LiveProgram(
            playing: Voices.path("Rear_Left"),
            configuration: """
                {device: 'mic', sensitivity: 'balanced', words: {left: {threshold: 0.9999}},
                 misses: {dir: '\(folder.file("misses"))', margin: 0.5}}
                """
        )
        let socket = live.folder.file("control.socket")
        func misses(_ arguments: [String] = []) throws -> (status: Int32, output: String, error: String) {
            let result = try Program.beckon(
                ["misses"] + arguments + ["--socket", socket],
                environment: live.environment
            )
            return (result.status, result.output, result.error)
        }
        #expect(
            comesTrue(within: 30) { (try? misses(["--near", "--json"]))?.output.contains("misses/beckon-") == true }
        )
        let line = try #require(try misses(["--near", "--json"]).output.split(separator: "\n").last)
        #expect(
            line.contains(#""event": "near-miss", "word": "left""#)
                && line.contains(#""threshold": 0.9999, "mode": "spot""#)
        )
        #expect(line.contains(#""level": -"#))
        let table = try misses(["--near"])
        #expect(
            table.status == 0 && table.output.contains("left (missed)") && table.output.contains("THRESHOLD"),
            "\(table)"
        )
        let number = try #require(line.firstMatch(of: /"number": (\d+)/)).1
        let copy = folder.file("copy.wav")
        #expect(try misses(["export", String(number), copy]).status == 0)
        // A second before the word, and 0.3 s after it.
        let samples = try Voices.samples(at: copy)
        #expect(samples.count > 16_000 && samples.count < 48_000)
        let again = try misses(["export", String(number), copy])
        #expect(again.status == 1 && again.error.contains("it exists already"))
        #expect(try misses(["export", "9999", copy]).error.contains("there is no word 9999"))
        let status = try Program.beckon(["status", "--json", "--socket", socket], environment: live.environment)
        #expect(status.output.contains(#""misses": {"saved": "#))
        // No event, no action: only those who ask are told.
        #expect(!live.output.contains("left"))
    }

    @Test func `wrong operands and a service that keeps nothing are said`() throws {
        for arguments in [["play"], ["play", "x"], ["play", "0"], ["export", "1"], ["12"]] {
            let result = try Program.beckon(["misses"] + arguments)
            #expect(result.status == 2 && result.error.contains("misses"), "\(arguments): \(result.error)")
        }
        let live = try LiveProgram(playing: Voices.path("Rear_Left"), configuration: "{device: 'mic'}")
        let socket = live.folder.file("control.socket")
        #expect(comesTrue(within: 20) { access(socket, F_OK) == 0 })
        let result = try Program.beckon(["misses", "--socket", socket], environment: live.environment)
        #expect(result.status == 1 && result.error.contains("set misses in its configuration"), "\(result.error)")
        let none = try Program.beckon(["misses", "--socket", "/nowhere/socket"])
        #expect(none.status == 1 && none.error.contains("no service is running"))
    }

    @Test func `enroll --not takes recordings for a taught word only`() throws {
        let folder = try TestFolder()
        let words = ["--words", folder.file("words")]
        func enroll(_ arguments: [String]) throws -> (status: Int32, output: String, error: String) {
            let result = try Program.beckon(["enroll"] + arguments + words)
            return (result.status, result.output, result.error)
        }
        let clip = Voices.path("Noise")
        #expect(try enroll(["center", "--not", clip]).error.contains("no word 'center' was taught"))
        #expect(try enroll(["stop", "--not", clip]).error.contains("beckon set stop=0.95"))
        #expect(try enroll(["center", "--more", "--not", clip]).status == 2)
        #expect(try enroll(["center", "--from", Voices.path("Front_Center"), Voices.path("Rear_Center")]).status == 0)
        let noise = try enroll(["center", "--not", clip])
        #expect(noise.status == 1 && noise.error.contains("is not found in this recording"), "\(noise)")
        let own = try enroll(["center", "--not", Voices.path("Front_Center")])
        #expect(own.status == 1 && own.error.contains("so like the takes"), "\(own)")
        let number = try enroll(["center", "--not", "12"])
        #expect(number.status == 1)
    }
}
