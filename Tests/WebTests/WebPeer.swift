import Glibc
import Network

/// A client of a ``WebServer`` in tests; all its reads fail after 60 s.
final class WebPeer {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    struct Response {
        var status = 0
        /// Names in lower case.
        var headers: [String: String] = [:]
        var body = ""
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

    /// Sends bytes as they are; returns false where the server has closed the connection.
    @discardableResult
    func send(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Sends a request with a host that is allowed, and returns its response.
    func ask(_ line: String, _ headers: [String] = [], body: String? = nil) throws -> Response {
        request(line, headers, body: body)
        return try response(hasBody: !line.hasPrefix("HEAD"))
    }

    @discardableResult
    func request(_ line: String, _ headers: [String] = [], body: String? = nil) -> Bool {
        var lines = ["\(line) HTTP/1.1"] + headers
        if !headers.contains(where: { $0.hasPrefix("Host:") }) { lines.append("Host: 127.0.0.1:1") }
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
    }

    /// The next response with its body; of a stream only the head.
    func response(hasBody: Bool = true) throws -> Response {
        var response = Response()
        while true {
            let line = try line()
            if line.isEmpty { break }
            if response.status == 0 {
                response.status = Int(line.split(separator: " ").dropFirst().first ?? "") ?? -1
            } else if let colon = line.firstIndex(of: ":") {
                response.headers[line[..<colon].lowercased()] =
                    String(line[line.index(after: colon)...].drop { $0 == " " })
            }
        }
        if response.status == 100 { return try self.response(hasBody: hasBody) }
        if hasBody, let length = response.headers["content-length"].flatMap({ Int($0) }) {
            while input.count < length { try fill() }
            response.body = String(decoding: input.prefix(length), as: UTF8.self)
            input.removeFirst(length)
        }
        return response
    }

    /// The next message of a stream: its event and its data.
    func message() throws -> (event: String, data: String) {
        while true {
            if let end = stream.firstRange(of: "\n\n") {
                let lines = stream[..<end.lowerBound].split(separator: "\n")
                stream.removeSubrange(..<end.upperBound)
                func value(_ name: String) -> String {
                    lines.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) } ?? ""
                }
                return (value("event"), value("data"))
            }
            // One chunk.
            guard let length = Int(try line(), radix: 16) else { throw Failure(description: "not a chunk") }
            while input.count < length + 2 { try fill() }
            stream += String(decoding: input.prefix(length), as: UTF8.self)
            input.removeFirst(length + 2)
            if length == 0 { throw Failure(description: "the stream ended") }
        }
    }

    private var stream = ""

    /// The data of the next message of a kind, of which there must be one among the next thousand.
    func message(_ event: String) throws -> String {
        for _ in 0..<1000 {
            let next = try message()
            if next.event == event { return next.data }
        }
        throw Failure(description: "no message \(event)")
    }

    private func line() throws -> String {
        while true {
            if let end = input.firstIndex(of: 10) {
                let line = String(decoding: input[..<end].filter { $0 != 13 }, as: UTF8.self)
                input.removeSubrange(...end)
                return line
            }
            try fill()
        }
    }

    private func fill() throws {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &piece, piece.count, 0)
        if count < 0, errno == EAGAIN { throw Failure(description: "nothing within 60 s") }
        guard count > 0 else { throw Failure(description: "closed") }
        input += piece.prefix(count)
    }

    /// Whether the server closes the connection; reads what comes before.
    func isClosed() throws -> Bool {
        do {
            while true { try fill() }
        } catch let failure as Failure {
            return failure.description == "closed"
        }
    }
}
