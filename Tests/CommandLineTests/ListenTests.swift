import Foundation
import TestSupport
import Testing

/// `beckon listen` as a whole: it detects the words of a voice that a fake card plays.
struct ListenTests {
    private static let left = "/usr/share/sounds/alsa/Front_Left.wav"

    private func count(_ text: String, _ part: String) -> Int { text.components(separatedBy: part).count - 1 }

    @Test func `a word on the card is detected once each time it is spoken, until a signal`() throws {
        let live = try LiveProgram(playing: Self.left, ["--json"])
        #expect(live.waits { count(live.output, "\n") >= 3 })
        #expect(live.end() == 0)
        struct Event: Decodable {
            var event: String
            var word: String
            var confidence: Double
            var time: Double
            var sequence: Int
            var device: String
        }
        let events = try live.output.split(separator: "\n").map {
            try JSONDecoder().decode(Event.self, from: Data($0.utf8))
        }
        #expect(events.allSatisfy { $0.word == "left" && $0.event == "word" && $0.device == "mic" })
        #expect(events.map(\.sequence) == Array(1...events.count))
        // The recording lasts 1.48 s and is played without a pause.
        for (one, next) in zip(events, events.dropFirst()) { #expect(abs(next.time - one.time - 1.48) < 0.25) }
        #expect(live.error.hasPrefix("beckon: listening to mic, 48000 Hz, channels: 1\n"))
    }

    @Test func `an unplugged card is waited for and used again`() throws {
        let live = try LiveProgram(playing: Self.left)
        #expect(live.waits { count(live.output, "left") >= 1 })
        try live.fail("gone")
        #expect(live.waits { live.error.contains("waiting for it to come back") })
        #expect(try live.status().contains("state: lost\n"))
        let heard = count(live.output, "left")
        try live.fail("")
        #expect(live.waits { live.error.contains("listening to mic again after") })
        #expect(live.waits { count(live.output, "left") > heard })
        let status = try live.status()
        #expect(status.contains("state: running\n") && status.contains("gaps: 1\n"))
        #expect(status.contains("reconnects: 1\n"))
        #expect(live.end(SIGINT) == 130)
        // The time of every hop is measured against its budget of 100 ms.
        let longest = status.firstMatch(of: /hopMilliseconds\.longest: ([0-9.]+)\n/).flatMap { Double($0.1) }
        let mean = status.firstMatch(of: /hopMilliseconds\.mean: ([0-9.]+)\n/).flatMap { Double($0.1) }
        #expect(mean.map { 0 < $0 && $0 <= longest ?? 0 } == true, "\(status)")
        #expect(status.contains("hopMilliseconds.budget: 100") && status.contains("droppedBlocks: 0\n"))
        // All audio since the first frame was heard, or is counted with the reason.
        let times = status.matches(of: /audio\.([a-zA-Z.]+): ([0-9.]+)\n/).map { ("\($0.1)", Double($0.2) ?? 0) }
        let sum = times.reduce(0) { $1.0 == "seconds" ? $0 : $0 + $1.1 }
        let all = times.first { $0.0 == "seconds" }?.1 ?? 0
        #expect(times.count == 13 && abs(sum - all) < 0.15, "\(times)")
        #expect(times.contains { $0.0 == "lost.device" && $0.1 > 0.2 })
        // Reported once, not once per period.
        #expect(count(live.error, "lost") == 1)
    }

    @Test func `while muted, the card is closed and no word is detected`() throws {
        let live = try LiveProgram(playing: Self.left)
        #expect(live.waits { count(live.output, "left") >= 1 })
        #expect(try live.ask("mute").status == 0)
        #expect(live.waits { live.error.contains("muted: the device is closed") })
        Thread.sleep(forTimeInterval: 0.3)
        let heard = live.output
        Thread.sleep(forTimeInterval: 2)
        #expect(live.output == heard)
        live.send(SIGUSR1)
        #expect(live.waits { live.output != heard })
        #expect(live.end() == 0)
    }

    @Test func `thresholds are set live, and last until the file says something else of the word`() throws {
        let live = try LiveProgram(playing: Self.left, configuration: "{ words: { left: { threshold: 0.6 } } }")
        #expect(live.waits { count(live.output, "left") >= 1 })
        #expect(try live.ask("set", "left=0.999").status == 0)
        #expect(try live.status().contains("thresholds.left: 0.999\n"))
        Thread.sleep(forTimeInterval: 0.5)
        let heard = count(live.output, "left")
        Thread.sleep(forTimeInterval: 3.2)
        #expect(count(live.output, "left") == heard)
        // Loading the same file again changes nothing.
        #expect(try live.ask("reload").status == 0)
        #expect(try live.status().contains("thresholds.left: 0.999\n"))
        try live.folder.write("config.json5", bytes: Array("{ words: { left: { threshold: 0.55 } } }".utf8))
        #expect(try live.ask("reload").status == 0)
        #expect(live.waits { count(live.output, "left") > heard })
        #expect(count(live.error, "thresholds were set: left=0.999\n") == 1)
        #expect(count(live.error, "the configuration was read again; nothing has changed\n") == 1)
        #expect(count(live.error, "the configuration was read again\n") == 1)
        // None of this lost audio.
        #expect(try live.status().contains("gaps: 0\n"))
        #expect(live.end() == 0)
    }

    @Test func `a sensitivity is set live, and the status says what is in force`() throws {
        let folder = try TestFolder()
        let model = try ModelCopy.write(
            "model",
            ["strict": ["spot": 0.9999], "eager": ["spot": 0.3]],
            in: folder
        )
        let configuration = "{ model: '\(model)', sensitivity: 'strict', words: { right: { sensitivity: 'eager' } } }"
        let live = try LiveProgram(playing: Self.left, configuration: configuration)
        #expect(live.waits { live.error.contains("sensitivity: strict\n") })
        let status = try live.status()
        #expect(status.contains("sensitivity: strict\nsensitivities.right: eager\n"))
        #expect(status.contains("thresholds.left: 1\n") && status.contains("thresholds.right: 0.3\n"), "\(status)")
        let set = try live.ask("set", "sensitivity", "eager")
        #expect(set.status == 0 && set.output == "note: these keep a choice of their own: right\n")
        #expect(live.waits { count(live.output, "left") >= 1 })
        #expect(try live.status().contains("sensitivity: eager\n"))
        #expect(
            count(live.error, "thresholds were set: sensitivity eager; these keep a choice of their own: right\n") == 1
        )
        #expect(try live.ask("set", "sensitivity", "lax").status == 2)
        // Loading the same file again changes nothing; another sensitivity in it does.
        #expect(try live.ask("reload").status == 0)
        #expect(try live.status().contains("sensitivity: eager\n"))
        let changed = configuration.replacingOccurrences(of: "sensitivity: 'strict',", with: "threshold: 0.7,")
        try live.folder.write("config.json5", bytes: Array(changed.utf8))
        #expect(try live.ask("reload").status == 0)
        #expect(live.waits { live.error.contains("threshold of all words: 0.7\n") })
        #expect(try live.ask("status", "--json").output.contains("\"sensitivity\": null"))
        #expect(live.end() == 0)
    }

    @Test func `a reload listens to another device; another socket waits for the next start`() throws {
        func configuration(_ keys: String) -> String { "{ threshold: 0.6, \(keys) }" }
        let live = try LiveProgram(
            playing: Self.left,
            ["--json"],
            second: "/usr/share/sounds/alsa/Rear_Right.wav",
            configuration: configuration("device: 'mic'")
        )
        func reload(_ keys: String) throws -> Program {
            try live.folder.write("config.json5", bytes: Array(configuration(keys).utf8))
            return try live.ask("reload")
        }
        #expect(live.waits { live.output.contains("\"left\"") })
        #expect(try reload("device: 'second', channel: 0").output == "")
        #expect(live.waits { live.error.contains("listening to second again after") })
        #expect(live.waits { live.output.contains("\"right\"") })
        let heard = live.output.split(separator: "\n").last ?? ""
        #expect(heard.contains("\"device\": \"second\"") && count(live.error, "another device or channel") == 1)

        let note = "socket: the one in use stays until the service is started again"
        #expect(try reload("device: 'second', channel: 0, socket: 'none'").output == "note: \(note)\n")
        live.send(SIGHUP)
        #expect(live.waits { live.error.contains("the configuration was read again\n") })
        try live.folder.write("config.json5", bytes: Array(configuration("device: 'second', channel: 0").utf8))
        live.send(SIGHUP)
        #expect(live.waits { live.error.contains("the configuration was read again; \(note)\n") })
        let status = try live.status()
        #expect(status.contains("device: second\n") && status.contains("gaps: 1\n"))
        #expect(live.end() == 0)
    }

    @Test func `a reload with a device that is not there is refused, and the one in use stays`() throws {
        let live = try LiveProgram(playing: Self.left, configuration: "{ threshold: 0.6, device: 'mic' }")
        #expect(live.waits { count(live.output, "left") >= 1 })
        func reload(_ keys: String) throws -> Program {
            try live.folder.write("config.json5", bytes: Array("{ threshold: 0.6, \(keys) }".utf8))
            return try live.ask("reload")
        }
        let refused = try reload("device: 'nothere'")
        #expect(
            refused.status == 1 && refused.error.contains("audio device 'nothere': snd_pcm_open"),
            "\(refused.error)"
        )
        let heard = count(live.output, "left")
        #expect(live.waits { count(live.output, "left") > heard })
        let status = try live.status()
        #expect(status.contains("device: mic\n") && status.contains("gaps: 0\n"))
        #expect(count(live.error, "the settings in force stay as they were") == 1)
        // Where no device is in use, the new one is waited for.
        try live.fail("gone")
        #expect(try live.waits { try live.status().contains("state: lost\n") })
        let waited = try reload("device: 'nothere'")
        #expect(waited.status == 0 && waited.output.contains("the new device is waited for: audio device 'nothere'"))
        #expect(live.end() == 0)
    }

    @Test func `a bad configuration is refused, and the previous one stays in force`() throws {
        let live = try LiveProgram(playing: Self.left, configuration: "{ words: { left: { threshold: 0.6 } } }")
        #expect(live.waits { count(live.output, "left") >= 1 })
        try live.folder.write("config.json5", bytes: Array("{\n  word: {}\n}".utf8))
        let reload = try live.ask("reload")
        #expect(reload.status == 1)
        #expect(reload.error.contains("config.json5:2") && reload.error.contains("did you mean"))
        live.send(SIGHUP)
        #expect(live.waits { live.error.contains("stay as they were") })
        let heard = count(live.output, "left")
        #expect(live.waits { count(live.output, "left") > heard })
        #expect(live.end() == 0)
    }

    @Test func `beside a service that runs, it listens without a control socket and says so`() throws {
        let folder = try TestFolder()
        let configuration = """
            {
                device: 'mic', threshold: 0.6, wyoming: { listen: 'unix://\(folder.file("wyoming"))' },
                actions: [{ unix: '\(folder.file("events"))' }, { print: '<{word}>' }],
            }
            """
        let service = try LiveProgram(playing: Self.left, configuration: configuration)
        #expect(service.waits { service.output.contains("<left>") })
        let second = try LiveProgram(
            playing: Self.left,
            ["--json"],
            configuration: configuration,
            variables: ["RUNTIME_DIRECTORY": service.folder.path]
        )
        #expect(second.waits { second.output.contains("\"word\": \"left\"") }, "\(second.error)")
        let socket = service.folder.file("control.socket")
        let lines = second.error.split(separator: "\n").filter { $0.contains("control socket") }
        #expect(lines.count == 1 && lines.first?.contains(socket) == true, "\(second.error)")
        #expect(lines.first?.contains("this one's integrations stay off") == true)
        #expect(second.end() == 0)
        // The socket is still that of the service.
        #expect(try service.status().contains("state: running\n"))
        #expect(service.end() == 0)
    }

    @Test func `a run-time folder that cannot be used costs the control socket, not the listening`() throws {
        let folder = try TestFolder()
        // A file in the place of the folder.
        try folder.write("run", bytes: [])
        let live = try LiveProgram(
            playing: Self.left,
            variables: ["RUNTIME_DIRECTORY": "", "XDG_RUNTIME_DIR": folder.file("run")],
            shell: "unset RUNTIME_DIRECTORY"
        )
        #expect(live.waits { count(live.output, "left") >= 1 }, "\(live.error)")
        #expect(count(live.error, "listening without a control socket") == 1)
        #expect(live.end() == 0)
        // One that was asked for is an error.
        let named = try LiveProgram(
            playing: Self.left,
            configuration: "{ device: 'mic', socket: '\(folder.file("run/socket"))' }"
        )
        #expect(named.waits { count(named.error, "cannot listen at") == 1 })
        #expect(named.end() == 1)
    }

    @Test func `with --json, what print actions print is an event of its own`() throws {
        let folder = try TestFolder()
        let text = #"{ actions: [{ print: 'heard "{word}"\n{percent}' }], threshold: 0.6, mode: 'spot' }"#
        let config = try folder.write("config.json5", bytes: Array(text.utf8))
        func listen(_ options: [String]) throws -> Program {
            try Program.beckon(["listen", "--config", config, "--words", "none", "--file", Self.left] + options)
        }
        let json = try listen(["--json"])
        #expect(json.status == 0 && json.lines.count == 2, "\(json.output)")
        var texts: [String] = []
        for line in json.lines {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            if object["event"] as? String == "print" { texts.append(object["text"] as? String ?? "") }
        }
        #expect(texts.count == 1 && texts.first?.hasPrefix("heard \"left\"\n") == true, "\(json.output)")
        #expect(try listen([]).output.contains("heard \"left\"\n"))
    }

    @Test func `a word runs its program, which gets the word`() throws {
        let folder = try TestFolder()
        let configuration = """
            {
                clips: { dir: "\(folder.path)" },
                words: { left: { threshold: 0.6, actions: [{ run: ["/usr/bin/tee", "\(folder.file("event"))"] }] } },
            }
            """
        let live = try LiveProgram(playing: Self.left, configuration: configuration)
        #expect(live.waits { (try? folder.bytes("event"))?.last == UInt8(ascii: "\n") })
        let event = String(decoding: try folder.bytes("event"), as: UTF8.self)
        #expect(event.hasPrefix("{\"event\": \"word\", \"word\": \"left\""))
        // The clip was saved, and contains the word.
        func clip() throws -> String? {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).first { $0.hasSuffix("-left.wav") }
        }
        #expect(try live.waits { try clip() != nil })
        #expect(live.end() == 0)
        let heard = try Program.beckon(["classify", "--json", "--threshold", "0.6", folder.file(clip() ?? "")])
        #expect(heard.output.contains("\"word\": \"left\""))
    }

    @Test func `a file plays as if it came from a microphone`() throws {
        let folder = try TestFolder()
        let record = folder.file("heard.wav")
        let live = try Program.beckon(["listen", "--file", Self.left, "--mode", "spot", "--json", "--record", record])
        let offline = try Program.beckon(["classify", "--json", Self.left])
        #expect(live.status == 0 && live.error == "")
        // Detections and their times equal those of the same chain offline.
        for key in ["\"word\": \"left\"", #/"confidence": [0-9.]+/#.firstText(offline.output)] {
            #expect(live.output.contains(key))
        }
        let again = try Program.beckon(["classify", "--json", record])
        #expect(again.output.contains("\"word\": \"left\""))
    }

    @Test(arguments: [
        (["listen", "--file", "/nowhere.wav"], 1, "/nowhere.wav"),
        (["listen", "--config", "/nowhere.json5"], 78, "/nowhere.json5"),
        (["listen", "talk.wav"], 2, "did you mean --file talk.wav?"),
        (["listen", "--file", "a.wav", "--device", "b"], 2, "--device and --file cannot be combined"),
        (["listen", "--device", "mic", "--record", "/nowhere/heard.wav"], 1, "/nowhere/heard.wav"),
        (["listen", "--model", "/nowhere/model"], 78, "/nowhere/model"),
        (["listen", "--word", "lift=0.7", "--device", "mic"], 78, "lift"),
    ])
    func `errors are one line`(_ arguments: [String], status: Int32, part: String) throws {
        let program = try Program.beckon(arguments)
        #expect(program.status == status && program.output == "")
        #expect(program.error.contains(part) && count(program.error, "\n") == 1, "\(program.error)")
    }

    @Test func `the journal gets priorities, and nobody else does`() throws {
        let folder = try TestFolder()
        let config = try folder.write("config.json5", bytes: Array("{\n  words: { lefd: {} },\n  mode: 'x',\n}".utf8))
        let mistakes = [
            "\(config):2:12: words.lefd: the model does not know the word 'lefd'; did you mean 'left'?",
            "\(config):3:9: mode: expected one of \"spot\", \"command\", not 'x'",
        ]
        let beckon = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/beckon"
        func run(_ stream: String, _ arguments: String...) throws -> Program {
            try Program.run(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", "JOURNAL_STREAM=\(stream) exec \(beckon) listen \"$@\"", "sh"] + arguments
            )
        }
        // JOURNAL_STREAM holds the device and inode number of standard error.
        let journal = "$(stat --dereference --format %d:%i /proc/self/fd/2)"
        let wrong = try run(journal, "--config", config)
        #expect(wrong.status == 78)
        #expect(wrong.error == mistakes.map { "<3>\($0)\n" }.joined())
        #expect(try run("1:2", "--config", config).error == mistakes.map { "beckon: \($0)\n" }.joined())
        #expect(try run(journal, "--nothing").error.hasPrefix("<3>unknown option --nothing"))

        let text = "{ actions: [{ run: [\"/no/such/program\"] }] }"
        let odd = try folder.write("odd.json5", bytes: Array(text.utf8))
        let warned = try run(journal, "--config", odd, "--file", "/nowhere.wav")
        #expect(warned.status == 1)
        let lines = warned.error.split(separator: "\n")
        #expect(lines.count == 2 && lines.first?.hasPrefix("<4>\(odd):1:15: warning: ") == true, "\(lines)")
        #expect(lines.last?.hasPrefix("<3>audio file '/nowhere.wav'") == true)
    }

    @Test func `without a microphone it says so once and waits`() throws {
        let live = try LiveProgram(playing: "/nowhere.wav")
        #expect(live.waits { live.error.contains("\n") })
        Thread.sleep(forTimeInterval: 1.5)
        #expect(count(live.error, "\n") == 1, "\(live.error)")
        #expect(live.end() == 0)
    }
}

extension Regex where Output == Substring {
    /// The first match; without one, a text that occurs nowhere.
    fileprivate func firstText(_ text: String) -> String { text.firstMatch(of: self).map { String($0.output) } ?? "\0" }
}
