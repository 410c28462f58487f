import Core
import Foundation
import Glibc
import Network
import Synchronization
import System
import TestSupport
import Testing

/// The example that lets linux-voice-assistant listen, with a WebSocket server that keeps what it gets.
struct StartListeningTests {
    private static let script = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Examples/start-listening").path

    private static func run(_ arguments: [String]) throws -> (status: Int32, error: String) {
        let program = try Program.run(URL(fileURLWithPath: "/usr/bin/env"), ["python3", script] + arguments)
        return (program.status, program.error)
    }

    /// Serves one client: reads its request, answers, reads the rest.
    ///
    /// - Returns: what came after the request.
    private static func serve(_ socket: ListeningSocket, answer: String) -> [UInt8] {
        var requests = [Poll.request(socket.descriptor.rawValue, POLLIN)]
        Poll.wait(&requests, until: Clock.now + .seconds(20))
        guard case .connection(let connection) = socket.accept() else { return [] }
        let client = connection.take()
        var received: [UInt8] = []
        var hasAnswered = false
        let deadline = Clock.now + .seconds(20)
        while Clock.now < deadline {
            var polled = [Poll.request(client.rawValue, POLLIN)]
            Poll.wait(&polled, until: deadline)
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(client.rawValue, &bytes, bytes.count, 0)
            guard count > 0 else { break }
            received += bytes.prefix(count)
            let text = String(decoding: received, as: UTF8.self)
            if !hasAnswered, let end = text.range(of: "\r\n\r\n") {
                hasAnswered = true
                let request = text[..<end.upperBound]
                guard request.hasPrefix("GET / HTTP/1.1\r\n"), request.contains("Sec-WebSocket-Version: 13"),
                    request.contains("Upgrade: websocket")
                else { break }
                received = Array(received.dropFirst(request.utf8.count))
                _ = send(client.rawValue, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
            }
        }
        return received
    }

    /// The text of a masked frame that is shorter than 126 bytes; nil for anything else.
    private static func text(_ frame: [UInt8]) -> String? {
        guard frame.count > 6, frame[0] == 0x81, frame[1] & 0x80 != 0, frame[1] & 0x7f < 126 else { return nil }
        let (mask, length) = (frame[2..<6].map { $0 }, Int(frame[1] & 0x7f))
        guard frame.count >= 6 + length else { return nil }
        let bytes: [UInt8] = (0..<length).map { frame[6 + $0] ^ mask[$0 % 4] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func exchange(_ arguments: [String], answer: String) throws -> (
        frame: [UInt8], status: Int32, error: String
    ) {
        let socket = try ListeningSocket(.tcp(host: "127.0.0.1", port: 0))
        let port = try #require(socket.address.port)
        let got = Mutex<[UInt8]>([])
        let done = Latch()
        Thread.detachNewThread {
            let bytes = serve(socket, answer: answer)
            got.withLock { $0 = bytes }
            done.open()
        }
        let program = try run(["127.0.0.1:\(port)"] + arguments)
        #expect(done.wait(until: Clock.now + .seconds(30)))
        return (got.withLock { $0 }, program.status, program.error)
    }

    private static let accepted =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"

    @Test(arguments: [([], "start_listening"), (["mute_mic"], "mute_mic")])
    func `the command arrives as a masked text frame, then the connection is closed`(
        _ arguments: [String],
        _ command: String
    ) throws {
        let result = try Self.exchange(arguments, answer: Self.accepted)
        #expect(result.status == 0 && result.error == "")
        #expect(Self.text(result.frame) == #"{"command": "\#(command)"}"#)
        #expect(result.frame.suffix(6).prefix(2) == [0x88, 0x80])
    }

    @Test func `a server of something else, and none at all, are said`() throws {
        let other = try Self.exchange([], answer: "HTTP/1.1 404 Not Found\r\n\r\n")
        #expect(other.status == 1 && other.error.contains("404 Not Found") && other.frame == [])
        let none = try Self.run(["127.0.0.1:1"])
        #expect(none.status == 1 && none.error.contains("refused"))
        #expect(try Self.run(["127.0.0.1:x"]).status == 1)
    }
}
