import Core
import Foundation
import System
import TestSupport
import Testing

/// `beckon serve` as a program: its address, its log, its end, and the server beside a microphone.
struct ServeTests {
    /// What a client gets for `describe` at a unix socket: the line and the data of `info`; "" if nobody listens.
    private static func info(_ path: String) -> String {
        guard let client = try? Client(path) else { return "" }
        client.send(Array("{\"type\": \"describe\"}\n{\"type\": \"select-program\"}\n".utf8))
        guard let line = try? client.line(), line.contains("\"info\"") else { return "" }
        // The data have no line end; the answer to a ping follows them on the same line.
        client.send(Array("{\"type\": \"ping\"}\n".utf8))
        return (try? client.line()) ?? ""
    }

    private final class Server {
        let folder: TestFolder
        let process = Process()

        /// - Parameter files: the limit on open files; nil leaves it.
        init(_ arguments: [String], configuration: String = "{}", files: Int? = nil) throws {
            let folder = try TestFolder()
            self.folder = folder
            try folder.write("config.json5", bytes: Array(configuration.utf8))
            try folder.write("err", bytes: [])
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            let limit = files.map { "ulimit -n \($0); " } ?? ""
            let shell = ["-c", limit + "exec \"$@\"", "sh", Program.beckonFile.path]
            let listen = arguments.isEmpty ? ["--listen", "unix://\(folder.file("socket"))"] : arguments
            process.arguments = shell + ["serve", "--config", folder.file("config.json5")] + listen
            process.environment = ProcessInfo.processInfo.environment.merging([
                "BECKON_WORDS": folder.file("words"), "XDG_CONFIG_HOME": folder.path,
            ]) { $1 }
            process.standardInput = FileHandle.nullDevice
            process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("err")))
            try process.run()
        }

        deinit {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }

        var socket: String { folder.file("socket") }
        var error: String { (try? folder.bytes("err")).map { String(decoding: $0, as: UTF8.self) } ?? "" }
    }

    @Test func `it takes only as many connections as the limit on open files leaves room for`() throws {
        let server = try Server([], files: 300)
        #expect(comesTrue(within: 20) { ServeTests.info(server.socket).contains("\"stop\"") })
        // The log is written by a thread of its own, which may come to it after the first client was answered.
        let warning = "the limit on open files is 300, so there can be at most 108 connections, not 500"
        #expect(comesTrue(within: 20) { server.error.contains(warning) }, "\(server.error)")
        // Each says something, as its place would else be given to another one.
        let clients = try (0..<130).map { _ in
            let client = try Client(server.socket)
            client.send(Array("{\"type\": \"ping\"}\n".utf8))
            _ = try? client.line()
            return client
        }
        #expect(comesTrue(within: 20) { ServeTests.info(server.socket).isEmpty }, "beyond the limit it still serves")
        #expect(clients.count == 130)
    }

    @Test func `it serves, reads its configuration again, and ends on SIGTERM with a summary`() throws {
        let server = try Server([])
        #expect(comesTrue(within: 20) { ServeTests.info(server.socket).contains("\"stop\"") })
        #expect(!ServeTests.info(server.socket).contains("go left"))
        try server.folder.write("config.json5", bytes: Array("{phrases: [{phrase: 'go left'}]}".utf8))
        kill(server.process.processIdentifier, SIGHUP)
        #expect(comesTrue(within: 20) { ServeTests.info(server.socket).contains("\"go left\"") })
        try server.folder.write("config.json5", bytes: Array("{words: {stop: {enabled: false}}, phrases: [}".utf8))
        kill(server.process.processIdentifier, SIGHUP)
        #expect(comesTrue(within: 20) { server.error.contains("the settings in force stay as they were") })
        #expect(ServeTests.info(server.socket).contains("\"stop\""))
        let begin = Clock.now
        server.process.terminate()
        server.process.waitUntilExit()
        #expect(server.process.terminationStatus == 0)
        #expect(Clock.now - begin < .seconds(2))
        #expect(server.error.contains("clients, 0 words; none dropped"))
        #expect(access(server.socket, F_OK) != 0)
    }

    @Test func `a reload listens elsewhere, and again at the same place`() throws {
        let folder = try TestFolder()
        let (first, second) = (folder.file("first"), folder.file("second"))
        let server = try Server(
            ["--threads", "1"],
            configuration: "{wyoming: {listen: 'unix://\(first)', connections: 5}}"
        )
        #expect(comesTrue(within: 20) { ServeTests.info(first).contains("\"stop\"") })
        func reload(_ text: String) throws {
            try server.folder.write("config.json5", bytes: Array(text.utf8))
            kill(server.process.processIdentifier, SIGHUP)
        }
        // Another limit on connections: the server is replaced at the same address.
        try reload("{wyoming: {listen: 'unix://\(first)', connections: 7}}")
        #expect(comesTrue(within: 20) { server.error.contains("the configuration was read again") }, "\(server.error)")
        #expect(ServeTests.info(first).contains("\"stop\""))
        try reload("{wyoming: {listen: 'unix://\(second)'}}")
        #expect(comesTrue(within: 20) { ServeTests.info(second).contains("\"stop\"") })
        #expect(access(first, F_OK) != 0)
        // An address that cannot be used is said, and another reload helps.
        try reload("{wyoming: {listen: 'unix:///nowhere/at/all'}}")
        #expect(comesTrue(within: 20) { server.error.contains("wyoming: ") })
        #expect(ServeTests.info(second) == "")
        try reload("{wyoming: {listen: 'unix://\(second)'}}")
        #expect(comesTrue(within: 20) { ServeTests.info(second).contains("\"stop\"") })
        server.process.terminate()
        server.process.waitUntilExit()
        #expect(server.process.terminationStatus == 0)
    }

    @Test(arguments: [
        (["--port", "10401"], "unknown option --port; did you mean --listen tcp://127.0.0.1:10401?"),
        (["--uri", "tcp://0.0.0.0:10400"], "unknown option --uri; did you mean --listen tcp://0.0.0.0:10400?"),
        (["--uri=0.0.0.0:10400"], "unknown option --uri; did you mean --listen tcp://0.0.0.0:10400?"),
        (["--listen", "0.0.0.0:10400"], "did you mean tcp://0.0.0.0:10400?"),
        (["--web", "http://127.0.0.1:10481/"], "did you mean tcp://127.0.0.1:10481?"),
    ])
    func `what other servers call it is understood`(arguments: [String], says: String) throws {
        let result = try Program.beckon(["serve"] + arguments)
        #expect(result.status == 2 && result.error.contains(says), "\(result.error)")
    }

    @Test func `a wrong address is a usage error, a taken one fails at once`() throws {
        let wrong = try Program.beckon(["serve", "--listen", "house.lan:10400"])
        #expect(wrong.status == 2)
        #expect(wrong.error.contains("--listen takes an address such as tcp://127.0.0.1:10400"))
        let server = try Server([])
        #expect(comesTrue(within: 20) { !ServeTests.info(server.socket).isEmpty })
        let second = try Program.beckon(["serve", "--words", "none", "--listen", "unix://\(server.socket)"])
        #expect(second.status == 1)
        #expect(second.error.contains("a service listens there already"))
    }

    @Test func `the service with a microphone serves clients too, and counts them`() throws {
        let folder = try TestFolder()
        let socket = folder.file("wyoming.socket")
        let live = try LiveProgram(
            playing: Voices.path("Rear_Left"),
            configuration: "{device: 'mic', wyoming: {listen: 'unix://\(socket)'}}"
        )
        #expect(comesTrue(within: 20) { ServeTests.info(socket).contains("\"stop\"") })
        let status = try Program.beckon(
            ["status", "--json", "--socket", live.folder.file("control.socket")],
            environment: live.environment
        )
        #expect(status.output.contains("\"wyoming\": {\"connections\":"))
        kill(live.identifier, SIGTERM)
        #expect(comesTrue(within: 5) { access(socket, F_OK) != 0 })
    }
}
