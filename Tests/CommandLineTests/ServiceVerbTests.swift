import Control
import Core
import Foundation
import Spotting
import Synchronization
import TestSupport
import Testing

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
                    "beckon: \(broken):2: treshold: unknown key; did you mean 'threshold'?",
                    "beckon: \(broken):3: words.yess.threshold: expected a confidence between 0 and 1, such as 0.8, not 2",
                    "beckon: \(broken):3: words.yess: the model does not know the word 'yess'; did you mean 'yes'?",
                    "beckon: \(broken):4: mode: expected one of \"spot\", \"command\", not 'comand'; did you mean 'command'?",
                ]
            )
        }
        let missing = try Program.beckon(["config", "check", folder.file("none")])
        #expect(missing.status == 1 && missing.error.contains("No such file or directory"))
        let model = try folder.write("model.json5", bytes: Array("{\n model: '/no/such/model' }".utf8))
        let noModel = try Program.beckon(["config", "check", model])
        #expect(noModel.status == 1 && noModel.error.hasPrefix("beckon: \(model):2: model: "))
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
        #expect(show.error == "beckon: \(own):1: warning: actions[0].run: no such program: /no/such/program\n")
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
            case .status: return .status(["state": "listening", "counts": ["events": 7]])
            case .reload: return .failed("config.json5:3: mode: expected one of …")
            default: return .done
            }
        }
        let status = try Program.beckon(["status", "--socket", path])
        #expect(status.status == 0 && status.output == "state: listening\ncounts.events: 7\n")
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
            none.status == 1 && none.error.hasPrefix("beckon: beckon is not running: no service listens at \(path)")
        )
        #expect(none.error.split(separator: "\n").count == 1)
    }

    @Test func `events are printed as they come, until the service ends`() throws {
        let path = folder.file("s")
        let isAsked = Atomic<Bool>(false)
        let server = try ControlServer(path: path) { _ in
            isAsked.store(true, ordering: .relaxed)
            return .status(["state": "listening"])
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
}
