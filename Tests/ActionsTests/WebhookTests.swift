import Configuration
import Core
import Foundation
import Glibc
import Synchronization
import System
import TestSupport
import Testing

@testable import Actions

/// Posts to a real web server on this machine.
struct WebhookTests {
    @Test(arguments: [
        (EPERM, "IPAddressAllow="), (EACCES, "IPAddressAllow="), (ENETUNREACH, "network"), (ECONNREFUSED, "running?"),
    ])
    func `why a server cannot be reached decides what to do`(_ number: Int32, remedy: String) {
        #expect(Webhook.remedy(number).contains(remedy))
    }

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
        ("", "closed the connection before it answered"),
        ("HTTP/1.1 200", "closed the connection before it answered"),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", "answered 101"),
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

    @Test func `a server that sends a byte now and then has the time-out for all of them`() throws {
        @Sendable func serve(_ connection: Int32, pause: UInt32) {
            for byte in "HTTP/1.1 204 No Content\r\n".utf8 where !AnsweringServer.send(connection, [byte], pause: pause)
            { return }
        }
        let slow = try AnsweringServer { serve($0, pause: 50_000) }
        let begun = ContinuousClock.now
        #expect(throws: ActionError.timedOut) { try Webhook(address: slow.address, timeout: 0.2).post("{}", stop: nil) }
        #expect(begun.duration(to: .now) >= .milliseconds(200) && begun.duration(to: .now) < .seconds(2))
        // It notices that nobody listens any more.
        #expect(slow.hasEnded())

        let patient = try AnsweringServer { serve($0, pause: 1_000) }
        #expect(try Webhook(address: patient.address, timeout: 20).post("{}", stop: nil) == 204)

        let stop = try EventFD(or: { $0 })
        let stopped = try AnsweringServer { connection in
            guard AnsweringServer.send(connection, Array("HTTP/1.1 2".utf8)) else { return }
            stop.signal()
            serve(connection, pause: 50_000)
        }
        let error = #expect(throws: ActionError.webhook) {
            try Webhook(address: stopped.address, timeout: 60).post("{}", stop: stop)
        }
        #expect(error?.description.contains("the service is stopping") == true)
    }

    /// What a server sends first, what it sends again and again after that, and the status or what the error says.
    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n", "X-More: and more\r\n", 200, ""),
        ("HTTP/1.1 200 OK\r\n\r\n", "body", 200, ""),
        ("HTTP/1.1 200 ", "x", nil, "does not speak HTTP/1"),
        ("", "x", nil, "does not speak HTTP/1"),
        ("", "HTTP/1.1 100 Continue\r\n\r\n", nil, "does not speak HTTP/1"),
        ("HTTP/1.1 103 Early Hints\r\n", "Link: </style.css>\r\n", nil, "does not speak HTTP/1"),
        ("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\nHTTP/1.1 204 No Content\r\n", "x", 204, ""),
    ])
    func `a server that sends without end is not listened to`(
        _ first: String,
        then rest: String,
        status: Int?,
        says reason: String
    ) throws {
        let server = try AnsweringServer { connection in
            guard AnsweringServer.send(connection, Array(first.utf8)) else { return }
            let piece = Array(String(repeating: rest, count: 1000).utf8)
            while AnsweringServer.send(connection, piece) {}
        }
        let webhook = Webhook(address: server.address, timeout: 20)
        if let status {
            #expect(try webhook.post("{}", stop: nil) == status)
        } else {
            let error = #expect(throws: ActionError.webhook) { try webhook.post("{}", stop: nil) }
            #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
        }
        #expect(server.hasEnded(), "the connection was not closed")
    }

    @Test func `a server that closes the connection`() throws {
        // At once, before it has read; midway; and by a reset, when it has not read everything.
        let hasty = try AnsweringServer { _ in }
        #expect(throws: ActionError.webhook) { try Webhook(address: hasty.address, timeout: 20).post("{}", stop: nil) }
        let midway = try AnsweringServer { connection in
            _ = AnsweringServer.send(connection, Array("HTTP/1.1 204 No Con".utf8))
        }
        #expect(throws: ActionError.webhook) { try Webhook(address: midway.address, timeout: 20).post("{}", stop: nil) }
        let rude = try AnsweringServer(reads: true) { connection in
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        }
        let error = #expect(throws: ActionError.webhook) {
            try Webhook(address: rude.address, timeout: 20).post("{}", stop: nil)
        }
        #expect(error?.description.contains("Connection reset") == true, "\(error?.description ?? "")")
    }

    @Test func `a redirect to itself is asked once`() throws {
        let server = try AnsweringServer(reads: true) { connection in
            _ = AnsweringServer.send(connection, Array("HTTP/1.1 307 Again\r\nLocation: /\r\n\r\n".utf8))
        }
        let error = #expect(throws: ActionError.webhook) {
            try Webhook(address: server.address, timeout: 20).post("{}", stop: nil)
        }
        #expect(error?.description.contains("a redirect, which is not followed") == true)
        #expect(server.hasEnded())
        #expect(server.connections == 1)
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
            ("http://127.0.0.+1/", "127.0.0.+1", 80, "/", false), ("http://127.0.0.1./", "127.0.0.1.", 80, "/", false),
            ("http://[0::1]/", "0::1", 80, "/", true), ("http://[::2]/", "::2", 80, "/", false),
            ("http://10.0.0.1/", "10.0.0.1", 80, "/", false),
        ]
        for (text, host, port, target, loopback) in table {
            let address = try WebAddress(text)
            #expect(address.host == host && address.port == port && address.target == target, "\(text)")
            #expect(address.isLoopback == loopback, "\(text)")
        }
        for text in [
            "", "localhost", "ftp://localhost/", "https://localhost/", "http://", "http:///x", "http://a:0/",
            "http://a:65536/",
            "http://a:b/", "http://a:+80/", "http://a:/", "http://user:word@localhost/", "http://localhost/a b",
            "http://localhost/\r\nX: y",
            "http://[::1",
            "http://[::1]x/", "http://localhost/é",
        ] {
            #expect(throws: InvalidValue.self, "\(text)") { try WebAddress(text) }
        }
    }
}

/// A server on this machine: `serve` answers each connection, on the server's thread.
final class AnsweringServer: @unchecked Sendable {
    let address: WebAddress
    private let listener: Int32
    private let count = Atomic<Int>(0)
    private let served = DispatchSemaphore(value: 0)

    /// - Parameter reads: whether it reads the request before that.
    init(reads: Bool = false, serve: @escaping @Sendable (_ connection: Int32) -> Void) throws {
        let (listener, port) = try listeningSocket()
        self.listener = listener
        address = try WebAddress("http://127.0.0.1:\(port)/")
        Thread { [weak self] in
            // Closed by this thread alone: else another test's socket could get the number while this thread is about to accept.
            defer { close(listener) }
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                self?.count.add(1, ordering: .relaxed)
                var piece = [UInt8](repeating: 0, count: 65_536)
                if reads { _ = recv(connection, &piece, piece.count, 0) }
                serve(connection)
                close(connection)
                self?.served.signal()
            }
        }.start()
    }

    // Ends `accept`, which `close` does not.
    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    var connections: Int { count.load(ordering: .relaxed) }

    /// Waits until a connection has been served; false if that takes more than a minute.
    func hasEnded() -> Bool { served.wait(timeout: .now() + 60) == .success }

    /// Sends bytes, then pauses, in microseconds; false if the client has closed the connection.
    static func send(_ connection: Int32, _ bytes: [UInt8], pause: UInt32 = 0) -> Bool {
        defer { usleep(pause) }
        return Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) >= 0
    }
}

/// A socket of this machine that listens, and its port.
private func listeningSocket() throws -> (descriptor: Int32, port: UInt16) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            bind(listener, pointer, length) == 0 && listen(listener, 8) == 0
                && getsockname(listener, pointer, &length) == 0
        }
    }
    guard bound else { throw ActionError.socket }
    return (listener, UInt16(bigEndian: address.sin_port))
}

/// A server on this machine that accepts one connection and sends `answer`; nil accepts none.
final class OneShotServer: @unchecked Sendable {
    let port: UInt16
    private let listener: Int32
    private var received: [UInt8] = []
    private let done = DispatchSemaphore(value: 0)

    init(answer: String?) throws {
        (listener, port) = try listeningSocket()
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
