import Foundation
import Glibc
import Synchronization

/// A server on this machine: `serve` answers each connection, on the server's thread.
public final class AnsweringServer: @unchecked Sendable {
    public let port: UInt16
    private let listener: Int32
    private let count = Atomic<Int>(0)
    private let served = DispatchSemaphore(value: 0)

    /// - Parameter reads: whether it reads the request before that.
    public init(reads: Bool = false, serve: @escaping @Sendable (_ connection: Int32) -> Void) throws {
        (listener, port) = try listeningSocket()
        Thread { [weak self, listener] in
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

    public var connections: Int { count.load(ordering: .relaxed) }

    /// Waits until a connection has been served; false if that takes more than a minute.
    public func hasEnded() -> Bool { served.wait(timeout: .now() + 60) == .success }

    /// Sends bytes, then pauses, in microseconds; false if the client has closed the connection.
    public static func send(_ connection: Int32, _ bytes: [UInt8], pause: UInt32 = 0) -> Bool {
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
    guard bound else { throw POSIXError(.EADDRINUSE) }
    return (listener, UInt16(bigEndian: address.sin_port))
}

/// A server on this machine that accepts one connection and sends `answer`; nil accepts none.
public final class OneShotServer: Sendable {
    public let port: UInt16
    private let listener: Int32
    private let received = Mutex<[UInt8]?>(nil)

    public init(answer: String?) throws {
        (listener, port) = try listeningSocket()
        guard let answer else { return }
        Thread { [self] in
            let connection = accept(listener, nil, nil)
            var piece = [UInt8](repeating: 0, count: 65_536)
            // One recv gets head and body, because they are sent in one piece.
            let count = recv(connection, &piece, piece.count, 0)
            _ = send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
            close(connection)
            received.withLock { $0 = Array(piece.prefix(max(0, count))) }
        }.start()
    }

    deinit { close(listener) }

    /// Whether it has got a request, and answered it.
    public var hasRequest: Bool { received.withLock { $0 != nil } }

    /// The request; empty if none has come within 20 s.
    public func request() -> String {
        _ = comesTrue(within: 20) { hasRequest }
        return String(decoding: received.withLock { $0 } ?? [], as: UTF8.self)
    }
}
