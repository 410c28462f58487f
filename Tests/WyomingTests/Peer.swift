import Core
import Foundation
import Glibc
import Network

@testable import Wyoming

/// A client of a ``WyomingServer`` in tests; all its reads fail after 60 s.
final class Peer {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let descriptor: Int32
    private var input: [UInt8] = []

    /// - Parameter source: the address of this machine that it connects from, such as `127.0.0.2`; nil for the usual one.
    init(_ address: ListenAddress, from source: String? = nil) throws {
        guard let connected = source.map({ Self.connect(address, from: $0) }) ?? address.connect() else {
            throw Failure(description: "connect to \(address): errno \(errno)")
        }
        descriptor = connected
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// By IPv4.
    private static func connect(_ address: ListenAddress, from source: String) -> Int32? {
        func ipv4(_ host: String, _ port: UInt16) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            inet_pton(AF_INET, host, &address.sin_addr)
            return address
        }
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        for (call, var address) in [
            (Glibc.bind, ipv4(source, 0)), (Glibc.connect, ipv4("127.0.0.1", address.port ?? 0)),
        ] {
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard result == 0 else {
                close(descriptor)
                return nil
            }
        }
        return descriptor
    }

    /// Sends all bytes; returns false where the server has closed the connection.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// The next event; nil when the server has closed the connection.
    func next() throws -> WyomingEvent? {
        while true {
            let events = ParserTests.read([input[...]]).events
            if let first = events.first, first.payload.count == first.event.payloadLength {
                dropFirstEvent()
                return first.event
            }
            var piece = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &piece, piece.count, 0)
            if count < 0, errno == EAGAIN { throw Failure(description: "no event within 60 s") }
            guard count > 0 else { return nil }
            input += piece.prefix(count)
        }
    }

    /// The type and the text of the first event in the input are enough to find its end.
    private func dropFirstEvent() {
        guard let end = input.firstIndex(of: 10) else { return }
        let line = try? JSONSerialization.jsonObject(with: Data(input[..<end])) as? [String: Any]
        let length = line?["data_length"] as? Int ?? 0
        lastType = line?["type"] as? String ?? ""
        lastData =
            (try? JSONSerialization.jsonObject(with: Data(input[(end + 1)..<(end + 1 + length)]))) as? [String: Any]
            ?? [:]
        let payload = line?["payload_length"] as? Int ?? 0
        lastPayload = Array(input[(end + 1 + length)..<(end + 1 + length + payload)])
        input.removeFirst(end + 1 + length + payload)
    }

    /// Of the newest event.
    private(set) var lastType = ""
    private(set) var lastData: [String: Any] = [:]
    private(set) var lastPayload: [UInt8] = []

    /// The type of the next event; nil when the server has closed the connection.
    func nextType() throws -> String? { try next() == nil ? nil : lastType }

    /// Whether the server has closed the connection; what it sends before is read.
    func isClosed() throws -> Bool {
        while try next() != nil {}
        return true
    }
}
