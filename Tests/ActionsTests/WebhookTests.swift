import Configuration
import Core
import Foundation
import Glibc
import System
import TestSupport
import Testing

@testable import Actions

/// Posts to a real web server on this machine.
struct WebhookTests {
    @Test func `a request as servers want it`() throws {
        let server = try OneShotServer(answer: "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        let address = try WebAddress("http://127.0.0.1:\(server.port)/api/hook?id=a%20b#part")
        let status = try Webhook(address: address, timeout: 2).post("{\"word\": \"é\"}", stop: nil)
        #expect(status == 204)
        #expect(
            server.request()
                == "POST /api/hook?id=a%20b HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Type: application/json\r\n"
                + "Content-Length: 14\r\nUser-Agent: beckon\r\nConnection: close\r\n\r\n{\"word\": \"é\"}"
        )
        let named = try OneShotServer(answer: "HTTP/1.0 200 OK\r\n\r\nhello")
        #expect(
            try Webhook(address: try WebAddress("http://localhost:\(named.port)"), timeout: 2).post("{}", stop: nil)
                == 200
        )
        #expect(named.request().hasPrefix("POST / HTTP/1.1\r\nHost: localhost:\(named.port)\r\n"))
    }

    @Test(arguments: [
        ("HTTP/1.1 204 No Content\r", 204), ("HTTP/1.0 200\r", 200), ("HTTP/1.1 599", 599), ("HTTP/1.1 100 x", 100),
        ("HTTP/1.1 2000 OK\r", nil), ("HTTP/1.1 20\r", nil), ("HTTP/1.1 +20 OK\r", nil), ("HTTP/1.1  200 OK\r", nil),
        ("HTTP/1.1 2０0 OK", nil), ("HTTP/1.1 600 x", nil), ("HTTP/1.1 099 x", nil), ("HTTP/2 200", nil), ("", nil),
    ])
    func `a status has exactly three digits`(_ line: String, status: Int?) {
        #expect(Webhook.status(ofLine: Array(line.utf8)) == status)
    }

    @Test(arguments: [
        (
            "HTTP/1.1 302 Found\r\nLocation: http://example.org/\r\n\r\n",
            "answered 302, a redirect, which is not followed"
        ),
        ("HTTP/1.1 500 Oops\r\n\r\n", "answered 500"), ("hello\r\n", "does not speak HTTP/1"),
        ("", "does not speak HTTP/1"),
        ("HTTP/1.1 9999999999999999999 x\r\n", "does not speak HTTP/1"),
        (String(repeating: "x", count: 100_000), "HTTP/1"),
    ])
    func `any other answer is a failure`(_ answer: String, says: String) throws {
        let server = try OneShotServer(answer: answer)
        let address = try WebAddress("http://127.0.0.1:\(server.port)/")
        let error = #expect(throws: ActionError.webhook) {
            try Webhook(address: address, timeout: 2).post("{}", stop: nil)
        }
        #expect(error?.description.contains(says) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains(address.text) == true)
    }

    @Test func `a server that does not answer costs the time-out`() throws {
        let server = try OneShotServer(answer: nil)
        let address = try WebAddress("http://127.0.0.1:\(server.port)/")
        let begun = ContinuousClock.now
        #expect(throws: ActionError.timedOut) { try Webhook(address: address, timeout: 0.05).post("{}", stop: nil) }
        #expect(begun.duration(to: .now) >= .milliseconds(50) && begun.duration(to: .now) < .seconds(2))

        let wakeUp = try EventFD(or: { $0 })
        wakeUp.signal()
        let stopped = try OneShotServer(answer: nil)
        #expect(throws: ActionError.webhook) {
            try Webhook(address: try WebAddress("http://127.0.0.1:\(stopped.port)/"), timeout: 60).post(
                "{}",
                stop: wakeUp
            )
        }
    }

    @Test func `a name server that does not answer costs the time-out, and no more`() throws {
        let answers = DispatchSemaphore(value: 0)
        let resolve: NameLookup.Resolver = { _, _ in
            answers.wait()
            return .failure(NameLookup.Failure(text: "late"))
        }
        var webhook = Webhook(address: try WebAddress("http://hook.test/"), timeout: 0.05, resolve: resolve)
        let error = #expect(throws: ActionError.timedOut) { try webhook.post("{}", stop: nil) }
        #expect(
            error?.description == "http://hook.test/ took longer than 0.05 s; the name server does not answer"
        )
        let wakeUp = try EventFD(or: { $0 })
        wakeUp.signal()
        webhook = Webhook(address: webhook.address, timeout: 60, resolve: resolve)
        #expect(throws: ActionError.webhook) { try webhook.post("{}", stop: wakeUp) }
        for _ in 0..<2 { answers.signal() }

        let unknown = Webhook(address: webhook.address, timeout: 5) { _, _ in
            .failure(NameLookup.Failure(text: "Name or service not known"))
        }
        let reason = #expect(throws: ActionError.webhook) { try unknown.post("{}", stop: nil) }
        #expect(reason?.description == "cannot find hook.test: Name or service not known; check the name")
    }

    @Test func `an address in digits needs no name server`() throws {
        let server = try OneShotServer(answer: "HTTP/1.1 204 No Content\r\n\r\n")
        let webhook = Webhook(address: try WebAddress("http://127.0.0.1:\(server.port)/"), timeout: 5) { _, _ in
            .failure(NameLookup.Failure(text: "asked for nothing"))
        }
        #expect(try webhook.post("{}", stop: nil) == 204)
    }

    @Test func `no server`() throws {
        let port = try OneShotServer(answer: nil).port  // Closed immediately, so nothing listens there.
        let error = #expect(throws: ActionError.webhook) {
            try Webhook(address: try WebAddress("http://127.0.0.1:\(port)/"), timeout: 2).post("{}", stop: nil)
        }
        #expect(error?.description.contains("Connection refused") == true)
    }

    @Test func `web addresses are parsed`() throws {
        let table: [(String, host: String, port: UInt16, target: String, loopback: Bool)] = [
            ("http://localhost", "localhost", 80, "/", true), ("HTTP://LocalHost:81/a", "localhost", 81, "/a", true),
            ("http://127.8.9.1/x?y", "127.8.9.1", 80, "/x?y", true), ("http://[::1]:8080?q", "::1", 8080, "/?q", true),
            ("http://127.0.0.1.example.org/", "127.0.0.1.example.org", 80, "/", false),
            ("http://localhost.example.org/", "localhost.example.org", 80, "/", false),
            ("http://[::2]/", "::2", 80, "/", false), ("http://10.0.0.1/", "10.0.0.1", 80, "/", false),
        ]
        for (text, host, port, target, loopback) in table {
            let address = try WebAddress(text)
            #expect(address.host == host && address.port == port && address.target == target, "\(text)")
            #expect(address.isLoopback == loopback, "\(text)")
        }
        for text in [
            "", "localhost", "ftp://localhost/", "https://localhost/", "http://", "http:///x", "http://a:0/",
            "http://a:65536/",
            "http://a:b/", "http://user:word@localhost/", "http://localhost/a b", "http://localhost/\r\nX: y",
            "http://[::1",
            "http://[::1]x/", "http://localhost/é",
        ] {
            #expect(throws: InvalidValue.self, "\(text)") { try WebAddress(text) }
        }
    }
}

/// A server on this machine that accepts one connection and sends `answer`; nil accepts none.
final class OneShotServer: @unchecked Sendable {
    let port: UInt16
    private let listener: Int32
    private var received: [UInt8] = []
    private let done = DispatchSemaphore(value: 0)

    init(answer: String?) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard bound else { throw ActionError.socket }
        port = UInt16(bigEndian: address.sin_port)
        guard let answer else { return }
        Thread { [self] in
            let connection = accept(listener, nil, nil)
            var piece = [UInt8](repeating: 0, count: 65_536)
            // One recv gets head and body, because they are sent in one piece.
            let count = recv(connection, &piece, piece.count, 0)
            received = Array(piece.prefix(max(0, count)))
            _ = send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
            close(connection)
            done.signal()
        }.start()
    }

    deinit { close(listener) }

    func request() -> String {
        _ = done.wait(timeout: .now() + 5)
        return String(decoding: received, as: UTF8.self)
    }
}
