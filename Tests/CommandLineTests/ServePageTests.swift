import Foundation
import JSON
import TestSupport
import Testing

/// The page of `beckon serve`: a word is taught to a satellite, as somebody with a telephone does it.
struct ServePageTests {
    /// Says a recording as a satellite does, with this gain and quiet around it, then ends the audio; prints the answers.
    private static let satellite = """
        import array, json, random, socket, sys, wave

        def event(kind, data={}, payload=b""):
            data = json.dumps(data).encode()
            return json.dumps({"type": kind, "data_length": len(data), "payload_length": len(payload)}).encode() + b"\\n" + data + payload

        path, file, gain, name = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        if name:
            connection.sendall(event("info", {"satellite": {"name": name}}))
        with wave.open(file) as sound:
            form = {"rate": sound.getframerate(), "width": 2, "channels": 1}
            samples = array.array("h", sound.readframes(sound.getnframes()))
        noise = lambda seconds: [random.randint(-30, 30) for _ in range(int(seconds * form["rate"]))]
        audio = array.array("h", noise(1) + [int(one * gain) for one in samples] + noise(1.5)).tobytes()
        connection.sendall(event("audio-start", form))
        for start in range(0, len(audio), 9600):
            connection.sendall(event("audio-chunk", form, audio[start:start + 9600]))
        connection.sendall(event("audio-stop"))
        reader = connection.makefile("rb")
        line = json.loads(reader.readline())
        data = json.loads(reader.read(line["data_length"])) if line.get("data_length") else {}
        print(line["type"], data.get("name", ""))
        """

    private final class Server {
        let folder: TestFolder
        let process = Process()

        init() throws {
            let folder = try TestFolder()
            self.folder = folder
            try folder.write("err", bytes: [])
            process.executableURL = Program.beckonFile
            process.arguments = [
                "serve", "--listen", "unix://\(folder.file("socket"))", "--web", "unix://\(folder.file("web"))",
            ]
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            process.standardInput = FileHandle.nullDevice
            process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("err")))
            try process.run()
        }

        deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

        var environment: [String: String] {
            [
                "BECKON_WORDS": folder.file("words"), "XDG_CONFIG_HOME": folder.path, "XDG_STATE_HOME": folder.path,
                "XDG_RUNTIME_DIR": folder.path, "BECKON_SOCKET": "",
            ]
        }
        var error: String { (try? folder.bytes("err")).map { String(decoding: $0, as: UTF8.self) } ?? "" }

        func beckon(_ arguments: [String]) throws -> Program { try Program.beckon(arguments, environment: environment) }

        /// Says a recording at the satellite. Returns what it was answered.
        func say(_ voice: String, _ gain: Double = 1, name: String = "Kitchen") throws -> String {
            let program = try Program.run(
                URL(fileURLWithPath: "/usr/bin/python3"),
                ["-c", ServePageTests.satellite, folder.file("socket"), Voices.path(voice), "\(gain)", name]
            )
            #expect(program.status == 0, "\(program)")
            return program.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        /// The status and the body of a request with the token.
        func ask(_ path: String, post body: String? = nil, token: String) throws -> (status: Int, body: String) {
            let client = try Client(folder.file("web"))
            let type =
                body == nil ? "" : "Content-Type: application/json\r\nContent-Length: \(body?.utf8.count ?? 0)\r\n"
            let key = token.isEmpty ? "" : "X-Beckon-Token: \(token)\r\n"
            let head =
                "\(body == nil ? "GET" : "POST") \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(key)\(type)\r\n"
            client.send(Array((head + (body ?? "")).utf8))
            var lines: [String] = []
            // The body may have no line end: what is asked for here has one.
            while let line = try client.line() { lines.append(line.replacingOccurrences(of: "\r", with: "")) }
            let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            return (status, lines.drop { !$0.isEmpty }.dropFirst().joined(separator: "\n"))
        }
    }

    @Test func `a word is taught to a satellite by what it says next, and is found there`() throws {
        let server = try Server()
        #expect(
            comesTrue(within: 20) {
                access(server.folder.file("web"), F_OK) == 0 && access(server.folder.file("socket"), F_OK) == 0
            }
        )
        // Each detection is a line of the log with client, word and score, and an event.
        #expect(try server.say("Rear_Left") == "detection left")
        #expect(comesTrue(within: 10) { server.error.contains("Kitchen: heard left (") }, "\(server.error)")
        let token = try server.beckon(["web", "token"]).output.trimmingCharacters(in: .newlines)
        #expect(token.count == 64)
        let page = try server.ask("/", token: "")
        #expect(page.status == 200 && page.body.contains("id=\"source\""))
        #expect(try server.ask("/misses", token: "").status == 403)
        func misses() throws -> JSONNode { try JSONNode.parse(server.ask("/misses", token: token).body) }
        let word = try #require(try misses()["clients"]?.elements.first)
        #expect(word["word"]?.text == "left" && word["client"]?.text == "Kitchen")

        func step(_ body: String) throws -> (status: Int, body: String) {
            try server.ask("/control", post: "{\"command\": \"teach\", \(body)}", token: token)
        }
        func teaching() throws -> JSONNode { try JSONNode.parse(server.ask("/teaching", token: token).body) }
        #expect(try step("\"step\": \"begin\", \"word\": \"rear center\"").status == 200)
        let none = try step("\"step\": \"record\"")
        #expect(none.status == 400 && none.body.contains("choose the client"), "\(none)")
        #expect(try step("\"step\": \"record\", \"client\": 9").body.contains("there is no such client"))
        for (count, gain) in [1, 0.7, 0.5].enumerated() {
            #expect(try step("\"step\": \"record\", \"client\": 1").status == 200)
            #expect(try teaching()["client"]?.text == "Kitchen")
            _ = try server.say("Rear_Center", gain)
            #expect(comesTrue(within: 20) { (try? teaching()["recording"]?.flag) == false })
            let state = try teaching()
            #expect(state["takes"]?.elements.count == count + 1, "\(state)")
        }
        #expect(try teaching()["estimate"]?.elements.isEmpty == false)
        let saved = try step("\"step\": \"save\"")
        #expect(saved.status == 200 && saved.body.contains("is taught, from 3 takes"), "\(saved)")
        #expect(try teaching()["saved"]?.text == "rear center" && teaching()["estimate"]?.elements.isEmpty == false)
        #expect(try server.beckon(["words"]).output.contains("rear center"))
        #expect(comesTrue(within: 20) { (try? server.say("Rear_Center")) == "detection rear center" })

        // Named by hand, which holds over a restart of the page; the events are those of the control socket.
        #expect(try step("\"step\": \"name\", \"client\": 1, \"to\": \"cook's corner\"").status == 200)
        let events = try Client(server.folder.file("beckon-serve/control.socket"))
        events.send(Array("events\n".utf8))
        #expect(try events.line()?.contains("\"wyoming\"") == true)
        _ = try server.say("Rear_Left")
        let event = try events.line() ?? ""
        #expect(event.contains("\"word\": \"left\"") && event.contains("\"client\": \"cook's corner\""), "\(event)")
        #expect(server.error.contains("cook's corner: heard left ("))
        #expect(try server.folder.bytes("beckon/clients.json").isEmpty == false)
        #expect(try server.beckon(["set", "left=0.9"]).status == 0)
        #expect(try server.beckon(["mute"]).error.contains("no microphone"))
    }
}
