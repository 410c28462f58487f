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

    init(_ address: ListenAddress) throws {
        guard let connected = address.connect() else {
            throw Failure(description: "connect to \(address): errno \(errno)")
        }
        descriptor = connected
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

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
