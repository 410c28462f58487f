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
        let parts = server.request().components(separatedBy: "\r\n\r\n")
        let lines = parts[0].components(separatedBy: "\r\n")
        #expect(lines.first == "POST /api/hook?id=a%20b HTTP/1.1")
        // The order of headers has no meaning (RFC 9110, 5.3).
        #expect(
            lines.dropFirst().sorted() == [
                "Connection: close", "Content-Length: 14", "Content-Type: application/json",
                "Host: 127.0.0.1:\(server.port)", "User-Agent: beckon",
            ]
        )
        #expect(parts.dropFirst().joined() == "{\"word\": \"é\"}")
        let named = try OneShotServer(answer: "HTTP/1.0 200 OK\r\n\r\nhello")
        #expect(
            try Webhook(address: try WebAddress("http://localhost:\(named.port)"), timeout: 2).post("{}", stop: nil)
                == 200
        )
        #expect(named.request().hasPrefix("POST / HTTP/1.1\r\nHost: localhost:\(named.port)\r\n"))
    }

    /// The first line of an answer, and the status that the request succeeds or fails with; nil: it is no answer.
    @Test(
        arguments: [
            ("HTTP/1.1 204 No Content\r", 204), ("HTTP/1.0 200\r", 200), ("HTTP/1.1 599", 599), ("HTTP/1.1 299 x", 299),
            ("HTTP/1.1 2000 OK\r", nil), ("HTTP/1.1 20\r", nil), ("HTTP/1.1 +20 OK\r", nil), ("HTTP/1.1 2０0 OK", nil),
            ("HTTP/1.1 099 x", nil), ("HTTP/1.1 199 x", nil), ("HTTP/1.1 20x OK", nil), ("HTTP/11 200 OK", nil),
            ("HTtP/.1 4010", nil), ("HTTP/.1 401", nil), ("http/1.1 200 OK", nil), ("HTTP/1.1", nil), ("", nil),
        ] as [(String, Int?)]
    )
    func `a status has exactly three digits`(_ line: String, status: Int?) throws {
        let server = try OneShotServer(answer: line + "\n\r\n")
        let webhook = Webhook(address: try WebAddress("http://127.0.0.1:\(server.port)/"), timeout: 20)
        if let status, (200..<300).contains(status) {
            #expect(try webhook.post("{}", stop: nil) == status)
        } else {
            let error = #expect(throws: ActionError.webhook) { try webhook.post("{}", stop: nil) }
            let reason = status.map { "answered \($0)" } ?? "gave no valid answer"
            #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
        }
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
        #expect(throws: ActionError.timedOut) {
            try Webhook(address: try slow.address, timeout: 0.2).post("{}", stop: nil)
        }
        #expect(begun.duration(to: .now) >= .milliseconds(200) && begun.duration(to: .now) < .seconds(2))
        // It notices that nobody listens any more.
        #expect(slow.hasEnded())

        let patient = try AnsweringServer { serve($0, pause: 1_000) }
        #expect(try Webhook(address: try patient.address, timeout: 20).post("{}", stop: nil) == 204)

        let stop = try EventFD(or: { $0 })
        let stopped = try AnsweringServer { connection in
            guard AnsweringServer.send(connection, Array("HTTP/1.1 2".utf8)) else { return }
            stop.signal()
            serve(connection, pause: 50_000)
        }
        let error = #expect(throws: ActionError.webhook) {
            try Webhook(address: try stopped.address, timeout: 60).post("{}", stop: stop)
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
        let webhook = Webhook(address: try server.address, timeout: 20)
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
        #expect(throws: ActionError.webhook) {
            try Webhook(address: try hasty.address, timeout: 20).post("{}", stop: nil)
        }
        let midway = try AnsweringServer { connection in
            _ = AnsweringServer.send(connection, Array("HTTP/1.1 204 No Con".utf8))
        }
        #expect(throws: ActionError.webhook) {
            try Webhook(address: try midway.address, timeout: 20).post("{}", stop: nil)
        }
        let rude = try AnsweringServer(reads: true) { connection in
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        }
        let error = #expect(throws: ActionError.webhook) {
            try Webhook(address: try rude.address, timeout: 20).post("{}", stop: nil)
        }
        #expect(error?.description.contains("Connection reset") == true, "\(error?.description ?? "")")
    }

    @Test func `a redirect to itself is asked once`() throws {
        let server = try AnsweringServer(reads: true) { connection in
            _ = AnsweringServer.send(connection, Array("HTTP/1.1 307 Again\r\nLocation: /\r\n\r\n".utf8))
        }
        let error = #expect(throws: ActionError.webhook) {
            try Webhook(address: try server.address, timeout: 20).post("{}", stop: nil)
        }
        #expect(error?.description.contains("a redirect, which is not followed") == true)
        #expect(server.hasEnded())
        #expect(server.connections == 1)
    }

    @Test func `no server`() throws {
        let port = try OneShotServer(answer: nil).port  // Closed immediately, so nothing listens there.
        let error = #expect(throws: ActionError.webhook) {
            try Webhook(address: try WebAddress("http://127.0.0.1:\(port)/"), timeout: 2).post("{}", stop: nil)
        }
        #expect(error?.description.contains("Connection refused") == true)
    }

    @Test(arguments: [
        ("http://a/x", "http://a:80/y", true, false), ("http://A/x", "http://a/y", true, false),
        ("https://a", "https://a:443/y", true, false), ("http://a:81", "http://a:82", false, false),
        ("http://a", "http://a:8080", false, false), ("http://a", "http://b", false, false),
        ("http://a", "https://a", false, true), ("http://a:80", "https://a:443", false, true),
        ("http://a:8080", "https://a", false, false), ("http://a", "https://a:8443", false, false),
        ("http://a", "https://b", false, false), ("https://a", "http://a", false, false),
        ("http://a:443", "https://a:443", false, false), ("http://[::1]", "http://[::1]:80/", true, false),
    ])
    func `a redirect goes to the same service, or to its host by TLS`(
        _ from: String,
        _ to: String,
        isSame: Bool,
        isSecured: Bool
    ) throws {
        let (one, other) = (try WebAddress(from), try WebAddress(to))
        #expect(other.isSameOrigin(as: one) == isSame && other.isSecured(one) == isSecured)
    }

    @Test func `web addresses are parsed`() throws {
        let table: [(String, host: String, port: UInt16, target: String, loopback: Bool)] = [
            ("http://localhost", "localhost", 80, "/", true), ("HTTP://LocalHost:81/a", "localhost", 81, "/a", true),
            ("http://127.8.9.1/x?y", "127.8.9.1", 80, "/x?y", true), ("http://[::1]:8080?q", "::1", 8080, "/?q", true),
            ("http://127.0.0.1.example.org/", "127.0.0.1.example.org", 80, "/", false),
            ("http://localhost.example.org/", "localhost.example.org", 80, "/", false),
            ("http://127.0.0.+1/", "127.0.0.+1", 80, "/", false), ("http://127.0.0.1./", "127.0.0.1.", 80, "/", false),
            ("http://[0::1]/", "0::1", 80, "/", true), ("http://[::2]/", "::2", 80, "/", false),
            ("http://10.0.0.1/", "10.0.0.1", 80, "/", false), ("https://localhost", "localhost", 443, "/", true),
            ("HTTPS://Example.org:8443/a?b#c", "example.org", 8443, "/a?b", false),
        ]
        for (text, host, port, target, loopback) in table {
            let address = try WebAddress(text)
            #expect(address.host == host && address.port == port && address.target == target, "\(text)")
            #expect(
                address.isLoopback == loopback && address.isSecure == text.lowercased().hasPrefix("https"),
                "\(text)"
            )
        }
        for text in [
            "", "localhost", "ftp://localhost/", "https://", "https:///x", "https:/a", "http://", "http:///x",
            "http://a:0/",
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

extension AnsweringServer {
    var address: WebAddress { get throws { try WebAddress("http://127.0.0.1:\(port)/") } }
}
