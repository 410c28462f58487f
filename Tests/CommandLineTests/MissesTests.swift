import Control
import Foundation
import Network
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

    /// Answers every command of one connection after the other with a line, as a program would that listens at the socket of a service.
    private static func answer(at path: String, _ line: @escaping @Sendable () -> String) throws -> ListeningSocket {
        let socket = try ListeningSocket(try ListenAddress("unix://" + path))
        let descriptor = socket.descriptor.rawValue
        Thread.detachNewThread {
            while true {
                var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&request, 1, 60_000) == 1 else { return }
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                var byte: UInt8 = 0
                while read(connection, &byte, 1) == 1, byte != 10 {}
                _ = writeAll(Array((line() + "\n").utf8), to: connection)
                close(connection)
            }
        }
        return socket
    }

    /// What may lie in a folder of clips, or be named by whoever listens at the socket.
    @Test func `only clips of the service's user in its folder are read, and copies are for their owner alone`() throws
    {
        let folder = try TestFolder()
        let (dir, path) = (folder.file("misses"), folder.file("control.socket"))
        mkdir(dir, 0o700)
        let secret = try folder.write("beckon-secret.wav", bytes: Array("secret".utf8))
        let clip = try folder.write("misses/beckon-1.wav", bytes: Array("RIFF".utf8))
        symlink("/etc/passwd", dir + "/beckon-link.wav")
        link(secret, dir + "/beckon-hard.wav")
        mkfifo(dir + "/beckon-pipe.wav", 0o600)
        mkdir(dir + "/beckon-folder.wav", 0o700)
        var named = [
            "/etc/shadow", "/etc/passwd", secret, "misses/beckon-1.wav", "", "/", dir, dir + "/",
            dir + "/../beckon-secret.wav",
            dir + "/beckon-link.wav", dir + "/beckon-hard.wav", dir + "/beckon-pipe.wav", dir + "/beckon-folder.wav",
            dir + "/beckon-gone.wav", "/proc/self/environ",
        ]
        if geteuid() == 0 {
            let foreign = try folder.write("misses/beckon-foreign.wav", bytes: Array("RIFF".utf8))
            #expect(chown(foreign, 1, 1) == 0)
            named.append(foreign)
        }
        let entries = ([clip] + named).enumerated().map { number, clip in
            "{\"number\": \(number + 1), \"event\": \"word\", \"word\": \"a\", \"confidence\": 0.5, "
                + "\"date\": \"2026-03-01T12:30:04.750Z\", \"clip\": \"\(clip)\"}"
        }
        let line =
            "{\"ok\": true, \"on\": true, \"dir\": \"\(dir)\", \"misses\": [\(entries.joined(separator: ", "))]}"
        let server = try Self.answer(at: path) { line }
        func export(_ number: Int, _ file: String) throws -> Program {
            try Program.beckon(["misses", "export", "\(number)", folder.file(file), "--socket", path])
        }
        for (index, name) in named.enumerated() {
            let result = try export(index + 2, "copy")
            #expect(result.status == 1 && result.error.split(separator: "\n").count == 1, "\(name): \(result.error)")
            #expect(access(folder.file("copy"), F_OK) != 0, "\(name)")
        }
        #expect(try export(1, "copy").status == 0)
        #expect(try folder.bytes("copy") == Array("RIFF".utf8))
        #expect(try FileStatus(path: folder.file("copy")).permissions == 0o600)
        server.removeFile()
    }

    @Test func `wrong operands and a service that keeps nothing are said`() throws {
        for arguments in [["play"], ["play", "x"], ["play", "0"], ["export", "1"], ["12"]] {
            let result = try Program.beckon(["misses"] + arguments)
            #expect(result.status == 2 && result.error.contains("misses"), "\(arguments): \(result.error)")
        }
        let live = try LiveProgram(playing: Voices.path("Rear_Left"), configuration: "{device: 'mic'}")
        let socket = live.folder.file("control.socket")
        #expect(comesTrue(within: 20) { (try? live.ask("status").status) == 0 })
        let result = try Program.beckon(["misses", "--socket", socket], environment: live.environment)
        #expect(result.status == 1 && result.error.contains("set misses in its configuration"), "\(result.error)")
        let none = try Program.beckon(["misses", "--socket", "/nowhere/socket"])
        #expect(none.status == 1 && none.error.contains("no service is running"))
    }

    @Test func `the control socket teaches nothing: whoever may mute the microphone may not record with it`() throws {
        let live = try LiveProgram(playing: Voices.path("Rear_Left"), configuration: "{device: 'mic'}")
        #expect(comesTrue(within: 20) { (try? live.ask("status").status) == 0 })
        for step in [
            TeachingStep.record, .begin(word: "x", more: false), .rename(word: "x", to: "y"), .take(.ofClient(1)),
        ] {
            var client = try ControlClient(path: live.folder.file("control.socket"))
            do throws(ControlError) {
                _ = try client.ask(.teach(step))
                Issue.record("\(step) was done")
            } catch {
                #expect(
                    error == .refused
                        && error.description.contains("words are taught on the live page, with its token"),
                    "\(error)"
                )
            }
        }
        #expect(!live.error.contains("teaching"))
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
