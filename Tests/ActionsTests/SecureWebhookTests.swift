import Configuration
import Foundation
import Glibc
import System
import TestSupport
import Testing

@testable import Actions

/// Posts by https to a real server on this machine, with certificates made for the test.
struct SecureWebhookTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        // As the program does: OpenSSL writes to connections that are closed.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Nil where openssl is not installed.
    private func server() throws -> SecureServer? {
        try Certificates(in: folder) == nil ? nil : SecureServer(folder)
    }

    private func webhook(_ address: String, caFile: String? = "ca.pem", timeout: Double = 30) throws -> Webhook {
        Webhook(address: try WebAddress(address), timeout: timeout, caFile: caFile.map(folder.file))
    }

    private func reason(_ webhook: Webhook, stop: EventFD? = nil) -> String {
        do throws(ActionError) {
            return "succeeded with \(try webhook.post("{}", stop: stop))"
        } catch {
            return error.description
        }
    }

    @Test func `an authority that is named is trusted, by IPv4, IPv6 and localhost`() throws {
        guard let server = try server() else { return }
        for host in ["127.0.0.1:\(server["good"])", "[::1]:\(server["good6"])", "localhost:\(server["good"])"] {
            #expect(try webhook("https://\(host)/ok?x=1").post("{\"word\": \"é\"}", stop: nil) == 204, "\(host)")
        }
        #expect(server.requests == Array(repeating: "POST /ok?x=1 {\"word\": \"é\"}", count: 3))
    }

    @Test(arguments: [
        ("good", "other.pem", "its certificate is not signed by "),
        ("good", nil, "its certificate is not signed by an authority that this"),
        ("elsewhere", "ca.pem", "its certificate is not for the name '127.0.0.1'"),
        ("expired", "ca.pem", "its certificate has expired"), ("self", "ca.pem", "self-signed"),
        ("plain", "ca.pem", "does not speak TLS"), ("good", "missing.pem", "missing.pem: No such file or directory"),
        ("good", "ca.key", "ca.key: it holds no certificate"), ("closed", "ca.pem", "Connection refused"),
    ])
    func `a server that cannot be trusted gets nothing, and the log says why`(
        _ name: String,
        caFile: String?,
        says text: String
    ) throws {
        guard let server = try server() else { return }
        let address = "https://127.0.0.1:\(server[name])/ok"
        let reason = reason(try webhook(address, caFile: caFile))
        #expect(reason.contains(text) && reason.contains(address) && !reason.contains("succeeded"), "\(reason)")
        #expect(server.requests == [])
    }

    @Test func `plain http to a port of https is no success`() throws {
        guard let server = try server() else { return }
        let reason = reason(try webhook("http://127.0.0.1:\(server["good"])/ok", caFile: nil))
        #expect(reason.contains("gave no valid answer"), "\(reason)")
    }

    @Test func `redirects are followed where that is asked for, on the same host and port`() throws {
        guard let server = try server() else { return }
        let base = "https://127.0.0.1:\(server["good"])"
        var hook = try webhook("\(base)/redirect?307")
        #expect(
            reason(hook)
                == "\(base)/redirect?307 answered 307, a redirect, which is not followed; post to the new address"
        )
        #expect(server.requests == ["POST /redirect?307 {}"])
        for status in [301, 302, 307, 308] {
            hook = try webhook("\(base)/redirect?\(status)")
            hook.followsRedirects = true
            #expect(reason(hook) == "succeeded with 204", "\(status)")
            #expect(server.requests.suffix(2) == ["POST /redirect?\(status) {}", "POST /ok {}"])
        }
        let before = server.requests.count
        for (path, text) in [
            ("redirect?303", "answered 303, a redirect, which is not followed"),
            ("away", "redirects to https://localhost:"), ("insecure", "redirects to http://127.0.0.1:"),
            ("file", "redirects to file:///etc/passwd"), ("loop", "redirects more than 5 times"),
            ("huge-redirect", "a redirect, which is not followed"),
            // On another port of the host is another service, by TLS too.
            ("port", "another host or port"),
        ] {
            hook = try webhook("\(base)/\(path)")
            hook.followsRedirects = true
            #expect(reason(hook).contains(text), "\(path): \(reason(hook))")
        }
        hook = try webhook("http://127.0.0.1:\(server["plain"])/secure")
        hook.followsRedirects = true
        #expect(reason(hook).contains("another host or port"))
        #expect(!server.requests[before...].contains { $0.contains("/ok") })
    }

    @Test(arguments: ["slow", "huge", "late-head"])
    func `an answer without end is not waited for`(_ path: String) throws {
        guard let server = try server() else { return }
        #expect(try webhook("https://127.0.0.1:\(server["good"])/\(path)").post("{}", stop: nil) == 200)
    }

    @Test func `a server that never answers costs the time-out, and no stop waits for it`() throws {
        guard let server = try server() else { return }
        let base = "https://127.0.0.1:\(server["good"])"
        let error = #expect(throws: ActionError.timedOut) {
            try webhook("\(base)/never", timeout: 2).post("{}", stop: nil)
        }
        #expect(error?.description == "\(base)/never took longer than 2 s; check the server's log")
        let silent = reason(try webhook("https://127.0.0.1:\(server["silent"])/", timeout: 0.5))
        #expect(silent.contains("took longer than 0.5 s; its machine does not answer by TLS"), "\(silent)")

        for place in ["127.0.0.1:\(server["good"])/never", "127.0.0.1:\(server["silent"])/"] {
            let stop = try EventFD(or: { $0 })
            Thread {
                usleep(200_000)
                stop.signal()
            }.start()
            #expect(
                reason(try webhook("https://\(place)", timeout: 600), stop: stop)
                    == "https://\(place): cancelled, the service is stopping"
            )
        }
    }
}

/// Servers in Python: by their certificates, and `plain` without one; `silent` only accepts, `closed` listens no more.
private final class SecureServer {
    private let process = Process()
    private let folder: TestFolder
    private let ports: [String: Int]

    init(_ folder: TestFolder) throws {
        self.folder = folder
        try folder.write("server.py", bytes: Array(Self.script.utf8))
        try folder.write("requests", bytes: [])
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", folder.file("server.py"), folder.path]
        process.standardError = FileHandle.nullDevice
        try process.run()
        var ports: [String: Int] = [:]
        let end = Date(timeIntervalSinceNow: 60)
        while ports["closed"] == nil, Date() < end {
            usleep(20_000)
            let text = String(decoding: (try? folder.bytes("ports")) ?? [], as: UTF8.self)
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: " ")
                if parts.count == 2 { ports[String(parts[0])] = Int(parts[1]) }
            }
        }
        self.ports = ports
        try #require(ports["closed"] != nil, "the server did not start")
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    subscript(name: String) -> Int { ports[name] ?? 0 }

    /// What was posted so far: the request line without its protocol, and the body.
    var requests: [String] {
        String(decoding: (try? folder.bytes("requests")) ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static let script = """
        import http.server, os, socket, ssl, sys, threading, time

        os.chdir(sys.argv[1])
        ports, lock, parent = {}, threading.Lock(), os.getppid()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                with lock, open("requests", "a") as log:
                    print("POST", self.path, body, file=log)
                path = self.path
                base, plain = f"https://127.0.0.1:{ports['good']}", f"http://127.0.0.1:{ports['plain']}"
                places = {
                    "/away": f"https://localhost:{ports['good']}/ok", "/insecure": plain + "/ok", "/file": "file:///etc/passwd",
                    "/loop": "/loop", "/secure": base + "/ok", "/huge-redirect": "/ok",
                    "/port": f"https://127.0.0.1:{ports['self']}/ok",
                }
                if path in places or path.startswith("/redirect?"):
                    self.send_response(int(path.split("?")[1]) if "?" in path else 307)
                    self.send_header("Location", places.get(path, "/ok"))
                    self.end_headers()
                    while path == "/huge-redirect":
                        self.wfile.write(b"x" * 65536)
                elif path in ("/slow", "/huge"):
                    self.send_response(200)
                    self.end_headers()
                    while True:
                        self.wfile.write(b"x" * (1 if path == "/slow" else 65536))
                        time.sleep(0.05 if path == "/slow" else 0)
                elif path == "/never":
                    time.sleep(600)
                elif path == "/late-head":
                    self.send_response(200)
                    self.flush_headers()
                    while True:
                        self.wfile.write(b"X: y\\r\\n")
                        time.sleep(0.05)
                else:
                    self.send_response(204)
                    self.end_headers()

            def log_message(self, *arguments):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def __init__(self, name, host):
                self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
                self.context = None
                if name != "plain":
                    self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                    certificate = name.removesuffix("6")
                    self.context.load_cert_chain(certificate + ".pem", certificate + ".key")
                super().__init__((host, 0), Handler)
                ports[name] = self.server_port

            def server_bind(self):
                self.socket.bind(self.server_address)
                self.server_address = self.socket.getsockname()
                self.server_name, self.server_port = "server", self.server_address[1]

            def process_request_thread(self, request, client):
                # The handshake belongs to the connection's thread, as it may take for ever.
                try:
                    if self.context:
                        request = self.context.wrap_socket(request, server_side=True)
                except (OSError, ssl.SSLError):
                    return request.close()
                super().process_request_thread(request, client)

            def handle_error(self, request, client):
                pass

        def listener():
            one = socket.socket()
            one.bind(("127.0.0.1", 0))
            return one

        servers = [Server(name, "::1" if name == "good6" else "127.0.0.1") for name in ["good", "good6", "elsewhere", "expired", "self", "plain"]]
        silent, closed = listener(), listener()
        silent.listen(16)
        ports.update(silent=silent.getsockname()[1], closed=closed.getsockname()[1])
        for server in servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        with open("new-ports", "w") as file:
            for name, port in ports.items():
                print(name, port, file=file)
        os.rename("new-ports", "ports")
        # Ends with the tests.
        while os.getppid() == parent:
            time.sleep(0.5)
        """
}
