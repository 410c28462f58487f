import Foundation
import Glibc
private import Network

/// A minimal client of a Unix socket that exchanges lines of text.
public final class Client {
    private struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    private let descriptor: Int32
    private var input: [UInt8] = []

    public init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard var address = UnixSocket.address(path) else { throw Failure("path too long") }
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else { throw Failure("cannot connect to \(path)") }
        // A read that hangs is a failure; a machine that does much else may need seconds.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    public func send(_ bytes: [UInt8]) {
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }

    /// The next line; nil when the server closed the connection.
    public func line() throws -> String? {
        while true {
            if let end = input.firstIndex(of: 10) {
                defer { input.removeSubrange(...end) }
                return String(decoding: input[..<end], as: UTF8.self)
            }
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &piece, piece.count, 0)
            if count < 0, errno == EAGAIN { throw Failure("no line within 60 s") }
            guard count > 0 else { return nil }
            input += piece.prefix(count)
        }
    }
}
