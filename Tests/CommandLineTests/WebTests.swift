import Foundation
import Network
import System
import TestSupport
import Testing

/// The web server of the running service, and `beckon web`.
struct WebTests {
    /// A request over a unix socket; "" if nobody answers.
    private static func ask(_ path: String, _ lines: String..., body: String = "") -> String {
        guard let address = try? ListenAddress("unix://" + path), let descriptor = address.connect() else { return "" }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let head = [lines[0] + " HTTP/1.1", "Host: localhost", "Connection: close"] + lines.dropFirst()
        let request = head.joined(separator: "\r\n") + "\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body
        _ = send(descriptor, request, request.utf8.count, Int32(MSG_NOSIGNAL))
        return (try? readAll(descriptor)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    @Test func `a link goes to a browser by a file that only its owner can read`() throws {
        let folder = try TestFolder()
        let environment = ["STATE_DIRECTORY": folder.path, "BECKON_CONFIG": "", "HOME": folder.path]
        mkdir(folder.file("beckon"), 0o700)
        let configuration = try folder.write(
            "beckon/config.json5",
            bytes: Array("{web: {listen: 'tcp://[::1]:10480'}}".utf8)
        )
        let variables = environment.merging(["XDG_CONFIG_HOME": folder.path]) { $1 }
        let token = try Program.beckon(["web", "token"], environment: variables).output.dropLast()
        let link = try Program.beckon(["web", "link"], environment: variables)
        #expect(link.output == "http://[::1]:10480/#token=\(token)\n", "\(configuration): \(link.error)")
        let file = try Program.beckon(["web", "link", "--file"], environment: variables)
        let path = String(file.output.dropLast())
        #expect(file.status == 0 && path.hasPrefix(folder.path) && !file.output.contains(token), "\(file.error)")
        #expect(try FileStatus(path: path).permissions == 0o600)
        let page = try String(contentsOfFile: path, encoding: .utf8)
        #expect(page.contains("content=\"0; url=http://[::1]:10480/#token=\(token)\""))
        #expect(try Program.beckon(["web", "token", "--file"], environment: variables).status == 2)
    }

    @Test func `the service has metrics, health and the page, and takes changes with the token`() throws {
        let folder = try TestFolder()
        let (socket, metrics) = (folder.file("web.socket"), folder.file("beckon.prom"))
        let live = try LiveProgram(
            playing: Voices.path("Rear_Left"),
            configuration: """
                {device: 'mic', web: {listen: 'unix://\(socket)'}, metrics: {file: '\(metrics)', interval: 1}}
                """,
            variables: ["STATE_DIRECTORY": folder.path]
        )
        #expect(live.waits { Self.ask(socket, "GET /readyz").hasPrefix("HTTP/1.1 200") })
        #expect(live.waits { Self.ask(socket, "GET /metrics").contains("beckon_detections_total{word=\"left\"} 1") })
        #expect(Self.ask(socket, "GET /metrics").contains("beckon_capture_state{state=\"running\"} 1"))
        #expect(Self.ask(socket, "GET /").contains("<title>Beckon</title>"))
        #expect(
            live.waits {
                (try? folder.bytes("beckon.prom")).map { String(decoding: $0, as: UTF8.self) }?.contains(
                    "beckon_ready 1"
                ) == true
            }
        )
        let token = try Program.beckon(["web", "token"], environment: ["STATE_DIRECTORY": folder.path])
        #expect(token.status == 0 && token.output.count == 65)
        let header = "X-Beckon-Token: \(token.output.dropLast())"
        let json = "Content-Type: application/json"
        let set = Self.ask(
            socket,
            "POST /control",
            header,
            json,
            body: "{\"command\": \"set\", \"words\": {\"left\": 0.55}}"
        )
        #expect(set.hasSuffix("{\"ok\": true}\n"))
        #expect(try live.status().contains("thresholds.left: 0.55"))
        let wrong = Self.ask(
            socket,
            "POST /control",
            header,
            json,
            body: "{\"command\": \"set\", \"words\": {\"x\": 0.5}}"
        )
        #expect(wrong.hasPrefix("HTTP/1.1 400") && wrong.contains("'x'"))
        #expect(Self.ask(socket, "POST /control", json, body: "{\"command\": \"mute\"}").hasPrefix("HTTP/1.1 403"))
        #expect(
            Self.ask(socket, "POST /control", header, json, body: "{\"command\": \"mute\"}").contains("\"ok\": true")
        )
        #expect(live.waits { Self.ask(socket, "GET /readyz").contains("not ready: the microphone is muted") })
        #expect(Self.ask(socket, "GET /healthz").hasPrefix("HTTP/1.1 200"))
        #expect(try live.status().contains("web.requests: "))
        let (status, seconds) = live.endInTime()
        #expect(status == 0 && seconds < 2)
        #expect(access(socket, F_OK) != 0 && access(metrics, F_OK) != 0)
    }

    @Test func `serve has metrics and health where it is told to, and ends in time`() throws {
        let folder = try TestFolder()
        let process = Process()
        process.executableURL = Program.beckonFile
        process.arguments = [
            "serve", "--words", "none", "--listen", "unix://\(folder.file("wake"))", "--web",
            "unix://\(folder.file("web"))",
        ]
        process.environment = ProcessInfo.processInfo.environment.merging(["XDG_CONFIG_HOME": folder.path]) { $1 }
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        #expect(comesTrue(within: 20) { Self.ask(folder.file("web"), "GET /readyz").hasPrefix("HTTP/1.1 200") })
        #expect(Self.ask(folder.file("web"), "GET /metrics").contains("\nbeckon_wyoming_connections 0\n"))
        #expect(Self.ask(folder.file("web"), "GET /").hasPrefix("HTTP/1.1 200"))
        #expect(Self.ask(folder.file("web"), "GET /misses").hasPrefix("HTTP/1.1 403"))
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func `a link is that of the running service, whatever the configuration says here`() throws {
        let folder = try TestFolder()
        let port = try {
            try #require(ListeningSocket(.tcp(host: "127.0.0.1", port: 0)).address.port)
        }()
        let live = try LiveProgram(
            playing: Voices.path("Rear_Left"),
            configuration: "{device: 'mic', web: {listen: 'tcp://127.0.0.1:\(port)'}}",
            variables: ["STATE_DIRECTORY": folder.file("state")]
        )
        let environment = [
            "BECKON_SOCKET": live.folder.file("control.socket"), "XDG_CONFIG_HOME": folder.path,
            "STATE_DIRECTORY": folder.file("other"),
        ]
        #expect(live.waits { (try? live.status().contains("state: running")) == true })
        let link = try Program.beckon(["web", "link"], environment: environment)
        let token = try Program.beckon(["web", "token"], environment: ["STATE_DIRECTORY": folder.file("state")])
        #expect(link.output == "http://127.0.0.1:\(port)/#token=\(token.output)", "\(link.error)")
        #expect(live.endInTime().status == 0)
    }

    @Test func `a link has the page's address and the token, which --new replaces`() throws {
        let folder = try TestFolder()
        try folder.folder("beckon")
        let environment = ["XDG_CONFIG_HOME": folder.path, "STATE_DIRECTORY": folder.file("state")]
        let none = try Program.beckon(["web", "link"], environment: environment)
        #expect(none.status == 1 && none.error.contains("the configuration has no web.listen"))
        try folder.write("beckon/config.json5", bytes: Array("{web: {listen: 'tcp://0.0.0.0:10480'}}".utf8))
        let token = try Program.beckon(["web", "token"], environment: environment).output.dropLast()
        let link = try Program.beckon(["web", "link"], environment: environment)
        #expect(link.output == "http://localhost:10480/#token=\(token)\n")
        let new = try Program.beckon(["web", "token", "--new"], environment: environment).output.dropLast()
        #expect(new != token && new.count == 64)
        #expect(try Program.beckon(["web", "token"], environment: environment).output.dropLast() == new)
        for words in [["web"], ["web", "show"], ["web", "token", "x"]] {
            #expect(try Program.beckon(words, environment: environment).status == 2, "\(words)")
        }
    }
}
