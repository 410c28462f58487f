import Foundation
import TestSupport
import Testing

/// A real broker on a port of its own; nil where none is installed.
final class Broker {
    let port: Int
    private let folder: TestFolder
    private var process: Process?
    private let settings: String

    init?(settings: String = "allow_anonymous true") throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/sbin/mosquitto") else {
            print("mosquitto is not installed: the test was skipped")
            return nil
        }
        folder = try TestFolder()
        port = try Self.freePort()
        self.settings = settings
        try start()
    }

    deinit { stop() }

    func start() throws {
        try folder.write("conf", bytes: Array("listener \(port) 127.0.0.1\n\(settings)\nuser root\n".utf8))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/sbin/mosquitto")
        process.arguments = ["-c", folder.file("conf")]
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        self.process = process
        try #require(eventually { self.isListening })
    }

    func stop() {
        // Not SIGTERM: the tests' threads may block it, and a child inherits that.
        if let process { kill(process.processIdentifier, SIGKILL) }
        process?.waitUntilExit()
        process = nil
    }

    @discardableResult
    func publish(_ topic: String, _ payload: String, _ isRetained: Bool, user: [String] = []) throws -> Int32 {
        let arguments = ["-p", "\(port)", "-t", topic, "-m", payload] + (isRetained ? ["-r"] : []) + user
        return try Program.run(URL(fileURLWithPath: "/usr/bin/mosquitto_pub"), arguments).status
    }

    /// What the broker keeps, and what comes within a second.
    func messages(_ filter: String = "#") throws -> [String] { try Self.messages(port: port, filter, seconds: 1) }

    static func messages(port: Int, _ filter: String, seconds: Int) throws -> [String] {
        // Not by its own -W: the tests' threads may block the signal that it waits for, and a child inherits that.
        let arguments = ["-s", "KILL", "\(seconds)", "mosquitto_sub", "-p", "\(port)", "-t", filter, "-F", "%r %t %p"]
        return try Program.run(URL(fileURLWithPath: "/usr/bin/timeout"), arguments).lines.map(String.init)
    }

    private var isListening: Bool {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = Self.loopback(port: port)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func freePort() throws -> Int {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = loopback(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) + getsockname(socket, $0, &size)
            }
        }
        try #require(result == 0)
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

/// Waits up to twenty seconds for a condition.
func eventually(_ condition: () -> Bool) -> Bool {
    for _ in 0..<400 {
        if condition() { return true }
        usleep(50_000)
    }
    return false
}
