import Configuration
import Control
import Core
import Events
import Foundation
import JSON
import Spotting
import Synchronization
import System
import TestSupport
import Testing

@testable import CommandLineTool

/// The commands around the service, as a user types them.
struct ServiceVerbTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test func `a valid configuration gives one line, an invalid one all its mistakes`() throws {
        let sound = try folder.write("sound.json5", bytes: Array("{ threshold: 0.9, words: { yes: {} } }".utf8))
        let check = try Program.beckon(["config", "check", sound])
        #expect(check.status == 0 && check.error == "" && check.output == "\(sound): this configuration is sound\n")

        let text = "{\n  treshold: 0.9,\n  words: { yess: { threshold: 2 } },\n  mode: 'comand',\n}"
        let broken = try folder.write("broken.json5", bytes: Array(text.utf8))
        for task in ["check", "show"] {
            let program = try Program.beckon(["config", task, broken])
            #expect(program.status == 1 && program.output == "")
            #expect(
                program.error.split(separator: "\n") == [
                    "beckon: \(broken):2:3: treshold: unknown key; did you mean 'threshold'?",
                    "beckon: \(broken):3:12: words.yess: the model does not know the word 'yess'; did you mean 'yes'?",
                    "beckon: \(broken):3:31: words.yess.threshold: expected a confidence between 0 and 1, such as 0.8, not 2",
                    "beckon: \(broken):4:9: mode: expected one of \"spot\", \"command\", not 'comand'; did you mean 'command'?",
                ]
            )
        }
        let missing = try Program.beckon(["config", "check", folder.file("none")])
        #expect(missing.status == 1 && missing.error.contains("No such file or directory"))
        let model = try folder.write("model.json5", bytes: Array("{\n model: '/no/such/model' }".utf8))
        let noModel = try Program.beckon(["config", "check", model])
        #expect(noModel.status == 1 && noModel.error.hasPrefix("beckon: \(model):2:2: model: "))
        #expect(noModel.error.split(separator: "\n").count == 1)
    }

    @Test func `config show prints the settings in force`() throws {
        try folder.folder("beckon")
        let own = try folder.write(
            "beckon/config.json5",
            bytes: Array("{ mode: 'spot', actions: [{ run: ['/no/such/program'] }] }".utf8)
        )
        let environment = ["XDG_CONFIG_HOME": folder.path]
        let show = try Program.beckon(["config", "show"], environment: environment)
        #expect(show.status == 0)
        #expect(show.error == "beckon: \(own):1:29: warning: actions[0].run: no such program: /no/such/program\n")
        #expect(
            show.output.hasPrefix("{\n    \"model\": null,\n")
                && show.output.contains("\n    \"limits\": {\n        \"queue\": ")
        )
        let shown = try JSONSerialization.jsonObject(with: Data(show.output.utf8)) as? [String: Any]
        #expect(shown?["mode"] as? String == "spot" && shown?["trigger"] as? String == "early")
        #expect((shown?["limits"] as? [String: Any])?["atOnce"] as? Int == 4)
        let check = try Program.beckon(["config", "check"], environment: environment)
        #expect(check.status == 0 && check.output.hasPrefix(own))
    }

    @Test func `the service is asked`() throws {
        let path = folder.file("s")
        let asked = Mutex<[ControlCommand]>([])
        let server = try ControlServer(path: path) { command in
            asked.withLock { $0.append(command) }
            switch command {
            case .status: return .listening(["counts": ["events": 7]])
            case .reload: return .failed("config.json5:3: mode: expected one of …")
            default: return .done
            }
        }
        let status = try Program.beckon(["status", "--socket", path])
        #expect(status.status == 0)
        #expect(
            status.lines.map { $0.prefix(11) } == [
                "state      ", "device     ", "words      ", "last word  ", "version    ",
            ]
        )
        let json = try Program.beckon(["status", "--json"], environment: ["BECKON_SOCKET": path])
        #expect(json.output == "{\"ok\": true, \"state\": \"listening\", \"counts\": {\"events\": 7}}\n")
        let set = try Program.beckon(["set", "--socket=\(path)", "yes=0.7", "no=0.5"])
        #expect(set.status == 0 && set.output == "" && set.error == "")
        let reload = try Program.beckon(["reload", "--socket", path])
        #expect(reload.status == 1 && reload.error == "beckon: config.json5:3: mode: expected one of …\n")
        let mute = try Program.beckon(["mute", "--socket", path])
        #expect(mute.status == 0)
        let expected: [ControlCommand] = [
            .status, .status, .set(ThresholdChange(words: ["yes": .confidence(0.7), "no": .confidence(0.5)])), .reload,
            .mute,
        ]
        #expect(asked.withLock { $0 } == expected)
        server.stop()
        let none = try Program.beckon(["mute", "--socket", path])
        #expect(
            none.status == 1 && none.error.hasPrefix("beckon: no service is running: nothing listens at \(path)")
        )
        #expect(none.error.split(separator: "\n").count == 1)
    }

    @Test func `events are printed as they come, until the service ends`() throws {
        let path = folder.file("s")
        let isAsked = Atomic<Bool>(false)
        let server = try ControlServer(path: path) { _ in
            isAsked.store(true, ordering: .relaxed)
            return .listening()
        }
        Thread {
            // A client that asks for events gets the status before them.
            while !isAsked.load(ordering: .relaxed) { usleep(2000) }
            for number in 1...3 { server.publish("{\"sequence\": \(number)}") }
            server.stop()
        }.start()
        let events = try Program.beckon(["events", "--socket", path])
        #expect(events.output == "{\"sequence\": 1}\n{\"sequence\": 2}\n{\"sequence\": 3}\n")
        #expect(events.status == 1 && events.error == "beckon: the service stopped; no more events\n")
    }

    @Test func `events --once ends after a word of the service that counts`() throws {
        let path = folder.file("s")
        let server = try ControlServer(path: path) { _ in
            var status = ServiceStatus()
            status.thresholds = [.init("yes", 0.5), .init("no", 0.5), .init("hey house", 0.5)]
            return .status(status)
        }
        defer { server.stop() }
        let isOver = Atomic<Bool>(false)
        Thread {
            while !isOver.load(ordering: .relaxed) {
                server.publish("{\"event\": \"session-start\", \"session\": \"yes\"}")
                server.publish("{\"event\": \"word\", \"word\": \"yes\", \"confidence\": 0.9}")
                server.publish("{\"event\": \"word\", \"word\": \"hey house\"}")
                server.publish("{\"event\": \"phrase\", \"phrase\": \"go left\"}")
                usleep(20_000)
            }
        }.start()
        defer { isOver.store(true, ordering: .relaxed) }
        let yes = "{\"event\": \"word\", \"word\": \"yes\", \"confidence\": 0.9}"
        for (options, status, output) in [
            (["--once", "--words", "yes"], 0, "yes\n"), (["--once", "--words", "Hey_House,no"], 0, "hey house\n"),
            (["--once", "--words", "go left"], 0, "go left\n"),
            (["--once", "--words", "yes", "--json"], 0, yes + "\n"),
            (["--once", "--words", "no", "--seconds", "0.5"], 3, ""),
        ] as [([String], Int32, String)] {
            let program = try Program.beckon(["events", "--socket", path] + options)
            #expect(
                program.status == status && program.output == output,
                "\(options): \(program.output)\(program.error)"
            )
            #expect(program.error == (status == 3 ? "beckon: no word came within 0.5 s\n" : ""))
        }
        let some = try Program.beckon(["events", "--socket", path, "--words", "yes", "--seconds", "1"])
        #expect(some.status == 0 && Set(some.lines) == [yes[...]] && some.error == "")
        let unknown = try Program.beckon(["events", "--socket", path, "--once", "--words", "yes,nope"])
        #expect(unknown.status == 1)
        #expect(
            unknown.error
                == "beckon: the service does not find the word 'nope'; did you mean 'no'? It finds yes, no, hey house\n"
                || unknown.error.contains("'nope'; it finds yes, no, hey house"),
            "\(unknown.error)"
        )
        for (arguments, part) in [
            (["status", "--once"], "--once goes with events"),
            (["set", "yes=0.5", "--words", "a"], "--words goes with events"),
            (["events", "--words", "a,,b"], "--words takes words with commas between"),
        ] {
            let program = try Program.beckon(arguments)
            #expect(program.status == 2 && program.error.contains(part), "\(program.error)")
        }
        // A service that is not there is waited for no longer than that.
        let gone = try Program.beckon([
            "events", "--reconnect", "--once", "--seconds", "1", "--socket", folder.file("none"),
        ])
        #expect(gone.status == 3 && gone.error.hasSuffix("beckon: no word came within 1 s\n"), "\(gone.error)")
    }

    @Test func `events --reconnect waits for the service, and goes on with the next one`() throws {
        let path = folder.file("s")
        let isOver = Atomic<Bool>(false)
        Thread {
            for number in 1...2 {
                usleep(700_000)
                let isAsked = Atomic<Bool>(false)
                let server = try? ControlServer(path: path) { _ in
                    isAsked.store(true, ordering: .relaxed)
                    return .done
                }
                _ = comesTrue(within: 20) { isAsked.load(ordering: .relaxed) }
                server?.publish("{\"sequence\": \(number)}")
                server?.stop()
            }
            isOver.store(true, ordering: .relaxed)
        }.start()
        let script = #""$0" events --reconnect --socket "$1" & while [ ! -e "$2" ]; do sleep 0.1; done; kill $!"#
        let stop = folder.file("stop")
        Thread {
            _ = comesTrue(within: 30) { isOver.load(ordering: .relaxed) }
            usleep(300_000)
            _ = FileManager.default.createFile(atPath: stop, contents: nil)
        }.start()
        let events = try Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", script, Program.beckonFile.path, path, stop]
        )
        #expect(events.output == "{\"sequence\": 1}\n{\"sequence\": 2}\n")
        let waits = "beckon: \(path): no service runs; it is waited for, Ctrl-C ends\n"
        #expect(events.error.hasPrefix(waits + "beckon: the service answers\n" + waits), "\(events.error)")
        #expect(try Program.beckon(["status", "--reconnect"]).error.contains("--reconnect goes with events"))
    }

    @Test func `events --reconnect ends at SIGTERM, although its parent has blocked it`() throws {
        let script = #"""
            env --block-signal=TERM "$0" events --reconnect --socket "$1" 2> "$1.err" &
            until grep -q "waited for" "$1.err"; do sleep 0.05; done
            kill $!
            wait $!
            echo "status $?"
            """#
        let events = try Program.run(
            URL(fileURLWithPath: "/bin/bash"),
            ["-c", script, Program.beckonFile.path, folder.file("s")]
        )
        #expect(events.output == "status 143\n", "\(events.error)")
    }

    @Test func `the status for people is a few lines`() throws {
        let text = """
            {"ok": true, "state": "running", "since": "2026-03-01T10:00:00.000Z", "device": "hw:CARD=Mic,DEV=0", "rate": 48000, \
            "channels": 2, "version": "1.2.3", "model": "commands", "mode": "command", "events": 7, "sensitivity": "balanced", \
            "thresholds": {"yes": 0.500, "grün": 0.700}, "newest": {"event": "word", "word": "yes", "confidence": 0.9712, \
            "date": "2026-03-01T11:59:30.000Z"}}
            """
        let now = try #require(Timestamp("2026-03-01T12:05:00.000Z"))
        func lines(_ text: String) throws -> [String] {
            guard case .status(let status) = try ControlReply(line: text, to: .status) else { return [] }
            return StatusSummary(status, now: now).lines
        }
        let since = try #require(Timestamp("2026-03-01T10:00:00.000Z")).timeOfDayText
        let last = try #require(Timestamp("2026-03-01T11:59:30.000Z")).timeOfDayText
        #expect(
            try lines(text) == [
                "state      listening since \(since) (2 h 5 min)",
                "device     hw:CARD=Mic,DEV=0, 48000 Hz, channels: 2",
                "words      yes, grün; balanced, command mode",
                "last word  yes, 97 %, at \(last) (5 min 30 s ago); 7 since the start",
                "version    beckon 1.2.3, model commands",
            ]
        )
        let lost = try lines(
            #"{"ok": true, "state": "lost", "device": "mic", "problem": "audio device 'mic': gone", "thresholds": {}}"#
        )
        #expect(
            lost[0] == "state      waiting for the microphone, which is lost"
                && lost[1] == "device     audio device 'mic': gone"
        )
        #expect(lost[3] == "last word  none yet" && lost[4] == "version    beckon of an earlier version")
        let unheard: [(members: String, line: Int, end: String)] = [
            (#""digitalSilenceSince": "2026-03-01T12:00:00.000Z""#, 1, "(5 min): beckon doctor finds the cause"),
            (
                #""channelsCancel": true"#, 1,
                "channels: 2; its channels cancel each other: set channel to 0 in the configuration"
            ),
            (
                #""channelsCancel": true, "turnedChannels": [1], "deadChannels": [2]"#, 1,
                "; channel 1 is the opposite of the others, and is turned in the mix; channel 2 is dead, and is left out of the mix"
            ),
            (#""mqtt": {"off": true}"#, 5, "while it read from the broker; its log says what to do"),
            (#""channelsCancel": false, "mqtt": {"off": false}"#, 1, "channels: 2"),
        ]
        for (members, line, end) in unheard {
            let found = try lines(text.replacing("\"rate\"", with: "\(members), \"rate\""))
            #expect(found.count == max(5, line + 1) && found[line].hasSuffix(end), "\(found)")
        }
        let looks = #""looks": 12, "refusedLooks": 3, "lookMilliseconds": {"longest": 9.31}"#
        for (members, line) in [
            (#""confirm": "on", \#(looks)"#, "on; looks: 12, refused: 3, the slowest in 9.3 ms"),
            (
                #""confirm": "on", \#(looks.replacing("12", with: "0").replacing("3,", with: "0,"))"#,
                "on; looks: 0, refused: 0"
            ),
            (#""confirm": "on""#, "on"), (#""confirm": "off""#, "off"),
            (#""confirm": "none""#, "none; the model has no networks for it"),
        ] {
            let found = try lines(text.replacing("\"rate\"", with: "\(members), \"rate\""))
            #expect(found.count == 6 && found[3] == "confirm    " + line, "\(found)")
        }
        let wakes = text.replacing(
            "\"newest\"",
            with: """
                "session": "computer", "sessions": [{"wake": "computer", "seconds": 5.0, "mode": "spot", \
                "thresholds": {"on": 0.5, "off": null}}, {"wake": "lamp", "thresholds": {"stop": 0.5}}], "newest"
                """
        )
        let inSession = try lines(wakes)
        #expect(inSession.count == 5)
        #expect(inSession[0] == "state      listening since \(since) (2 h 5 min); the session of computer is on")
        #expect(
            inSession[2]
                == "words      yes, grün; balanced, command mode; after computer: on, off; after lamp: stop"
        )
        let outside = try lines(wakes.replacing("\"session\": \"computer\"", with: "\"session\": null"))
        #expect(outside[0].hasSuffix("(2 h 5 min)"))
        let many = (1...25).map { "\"w\($0)\": 0.5" }.joined(separator: ", ")
        #expect(try lines("{\"ok\": true, \"thresholds\": {\(many)}}")[2].hasSuffix("w19, w20 and 5 more"))
    }
}

extension ControlReply {
    fileprivate static func listening(_ counts: JSON = [:]) -> ControlReply {
        var status = ServiceStatus()
        status.input = ServiceStatus.Input(state: "listening")
        status.counts = counts.members
        return .status(status)
    }
}
