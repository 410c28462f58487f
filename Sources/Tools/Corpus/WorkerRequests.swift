private import JSON
private import System

/// Reads what an engine writes to a worker: lines of JSON, each of which names a file or says how many bytes of one follow it.
///
///     {"file": "talks/one.wav"}
///     {"name": "two.wav", "bytes": 32044}
///     … 32044 bytes, without a newline after them
///
/// It is a pure state machine: the same bytes give the same parts, however they are cut. It holds one line at most.
public struct WorkerRequests: Sendable {
    public enum Part: Equatable, Sendable {
        /// A request: classify this file.
        case file(String)
        /// The beginning of a request with its audio, of so many bytes; 0 or more ``bytes(_:)`` and ``end`` follow.
        case begin(name: String, bytes: Int)
        case bytes(ArraySlice<UInt8>)
        case end
        /// A request that cannot be served; the next one can. `name` is that of the request, if it has one.
        case refusal(name: String?, reason: String)
        /// What follows cannot be told from requests; nothing is read any more.
        case breakdown(String)
    }

    /// Bytes of a line, without its newline.
    public static let longestLine = 64 << 10
    /// Bytes of audio of a request.
    public static let mostBytes = 4 << 30

    private enum State {
        case line
        /// Bytes of audio still to come.
        case audio(rest: Int)
        case refused(rest: Int)
        case broken
    }

    private var state = State.line
    private var line: [UInt8] = []

    public init() {}

    public var isBroken: Bool {
        if case .broken = state { true } else { false }
    }

    /// Takes the next bytes.
    ///
    /// - Parameter body: gets what they are, in order.
    public mutating func take(_ bytes: ArraySlice<UInt8>, _ body: (Part) -> Void) {
        var rest = bytes
        while !rest.isEmpty {
            switch state {
            case .broken: return
            case .audio(let count):
                let part = rest.prefix(count)
                rest = rest.dropFirst(part.count)
                body(.bytes(part))
                goOn(.audio(rest: count - part.count), left: count - part.count, body)
            case .refused(let count):
                let left = count - min(count, rest.count)
                rest = rest.dropFirst(count)
                goOn(.refused(rest: left), left: left, body)
            case .line:
                let end = rest.firstIndex(of: 10)
                let part = rest[..<(end ?? rest.endIndex)]
                guard line.count + part.count <= Self.longestLine else {
                    line = []
                    breakDown("a line of more than \(Self.longestLine) bytes", body)
                    return
                }
                line += part
                rest = rest[part.endIndex...]
                if end != nil {
                    rest = rest.dropFirst()
                    takeLine(body)
                }
            }
        }
    }

    /// Takes the end of all bytes; the last line needs no newline.
    public mutating func finish(_ body: (Part) -> Void) {
        if case .line = state { takeLine(body) }
        switch state {
        case .audio(let rest), .refused(let rest): breakDown("\(rest) bytes of the last request are missing", body)
        case .line, .broken: break
        }
    }

    private mutating func goOn(_ next: State, left: Int, _ body: (Part) -> Void) {
        guard left == 0 else {
            state = next
            return
        }
        if case .audio = state { body(.end) }
        state = .line
    }

    private mutating func breakDown(_ reason: String, _ body: (Part) -> Void) {
        state = .broken
        body(.breakdown(reason))
    }

    private mutating func takeLine(_ body: (Part) -> Void) {
        let bytes = Array(line.withoutByteOrderMark)
        line = []
        guard bytes.contains(where: { $0 != 32 && $0 != 13 && $0 != 9 }) else { return }
        guard let request = Self.request(bytes) else {
            let requests = #"{"file": "a.wav"} or {"name": "a.wav", "bytes": 32044}"#
            breakDown("a line that is not a request, such as \(requests)", body)
            return
        }
        let title = request.name ?? request.file
        switch (request.file, request.name, request.bytes) {
        case (let file?, nil, nil): body(.file(file))
        case (nil, let name?, let bytes?) where bytes <= Self.mostBytes:
            body(.begin(name: name, bytes: bytes))
            state = .audio(rest: bytes)
            goOn(.audio(rest: bytes), left: bytes, body)
        case (_, _, let bytes?):
            let reason =
                bytes > Self.mostBytes
                ? "more than \(Self.mostBytes) bytes; give the name of a file"
                : "bytes of audio without one name; give name and bytes"
            body(.refusal(name: title, reason: reason))
            state = .refused(rest: bytes)
            goOn(.refused(rest: bytes), left: bytes, body)
        case (_, _, nil):
            body(.refusal(name: title, reason: "a request needs either file, or name and bytes"))
        }
    }

    /// The members of a request's line; nil if it is not a request.
    private static func request(_ line: [UInt8]) -> (file: String?, name: String?, bytes: Int?)? {
        guard let text = String(validating: line, as: UTF8.self), let node = try? JSONNode.parse(text), node.isObject
        else { return nil }
        let members = ["file", "name", "bytes"].map { name in node[name].flatMap { $0.value == .null ? nil : $0 } }
        let (file, name, bytes) = (members[0], members[1], members[2])
        guard (file == nil) == (file?.text == nil), (name == nil) == (name?.text == nil),
            (bytes == nil) == (bytes?.integer == nil), bytes?.integer ?? 0 >= 0
        else { return nil }
        return (file?.text, name?.text, bytes?.integer)
    }
}
