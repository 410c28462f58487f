import Glibc
import Synchronization
import System

@testable import Actions
@testable import Configuration

/// Answers of a web server, from a server in this process.
func fuzzWebhook(_ bytes: [UInt8]) {
    server.answer.withLock { $0 = bytes }
    guard let address = try? WebAddress("http://127.0.0.1:\(server.port)/x") else { fatalError("no address") }
    guard let status = try? Webhook(address: address, timeout: 5).post("{}", stop: nil) else { return }
    check((200..<300).contains(status), "status \(status)")
    check(bytes.starts(with: "HTTP/".utf8), "an answer of another protocol is accepted")
}

private let server = Server()

/// Accepts connections and sends each the newest answer.
private final class Server: Sendable {
    let answer = Mutex<[UInt8]>([])
    let port: UInt16

    init() {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                check(bind(listener, pointer, size) == 0 && listen(listener, 64) == 0, "no server")
                getsockname(listener, pointer, &size)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Context(self, listener)).toOpaque()
        pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Context>.fromOpaque(context).takeRetainedValue().serve()
                return nil
            },
            context
        )
    }

    private final class Context {
        let server: Server
        let listener: Int32

        init(_ server: Server, _ listener: Int32) { (self.server, self.listener) = (server, listener) }

        func serve() {
            while true {
                let client = accept(listener, nil, nil)
                if client < 0 { continue }
                let bytes = server.answer.withLock { $0 }
                _ = bytes.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                shutdown(client, Int32(SHUT_WR))
                var room = [UInt8](repeating: 0, count: 4096)
                while recv(client, &room, room.count, 0) > 0 {}
                // No TIME_WAIT: thousands of connections a second would use up all ports.
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
                close(client)
            }
        }
    }
}
