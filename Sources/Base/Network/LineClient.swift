import Core
import Glibc
import JSON
import System

/// One connection of a ``LineServer``: its unread input and its unsent output. Used only by the server's thread.
final class LineClient {
    enum End { case gone, slow, protocolViolation }

    let descriptor: FileDescriptor
    /// Unique within the server.
    let number: UInt64
    let peer: Peer
    /// When it connected.
    let start = Clock.now
    var listens = false
    /// Whether the answer to its last line is still to come; until then no further line is read.
    private(set) var isAwaiting = false

    private let settings: LineServer.Settings
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var lines: [String] = []
    private var hasSpoken = false
    private var ended: End?
    /// When the client is closed because it sends nothing; and when, because it does not read (nil: no output waits).
    private var silenceEnd: Instant
    private var readingEnd: Instant?

    init(_ connection: consuming Connection, number: UInt64, settings: LineServer.Settings) {
        peer = connection.peer
        descriptor = connection.take()
        self.number = number
        self.settings = settings
        silenceEnd = Clock.now + .seconds(settings.timeout)
        // By default the system would buffer hundreds of kilobytes for a client that does not read.
        var size: Int32 = 16 << 10
        setsockopt(self.descriptor.rawValue, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Whether it has sent no whole line yet, and gets none.
    var isSilent: Bool { !hasSpoken && !listens }
    /// Whether output waits to be sent.
    var isWaiting: Bool { !output.isEmpty }
    /// Whether a line can be answered now.
    var hasLine: Bool { !lines.isEmpty && !isAwaiting }
    /// Whether it is time to read: all lines so far are answered.
    var isReading: Bool { lines.isEmpty && !isAwaiting }

    /// Whether it waits for an answer and has sent nothing after that line.
    var awaitsLast: Bool { isAwaiting && lines.isEmpty }

    /// When the client must be checked for a timeout; nil if it has none now.
    var deadline: Instant? {
        let silenceEnd = mayBeSilent ? nil : silenceEnd
        guard let readingEnd else { return silenceEnd }
        return silenceEnd.map { min($0, readingEnd) } ?? readingEnd
    }

    /// Whether it may send nothing for as long as it likes.
    private var mayBeSilent: Bool { listens || isAwaiting || !lines.isEmpty }

    /// Why the client must be closed; nil if it stays.
    func end(now: Instant) -> End? {
        if let ended { return ended }
        if let readingEnd, now >= readingEnd { return .slow }
        return !mayBeSilent && now >= silenceEnd ? .protocolViolation : nil
    }

    /// Reads at most 4 KiB, so that no client can keep the thread busy.
    func receive() {
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor.rawValue, &piece, piece.count, 0)
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) { ended = ended ?? .gone }
            return
        }
        input += piece.prefix(count)
        while let end = input.firstIndex(of: 10) {
            guard end <= settings.longestLine else { break }
            hasSpoken = true
            lines.append(String(decoding: input[..<end], as: UTF8.self))
            input.removeSubrange(...end)
            silenceEnd = Clock.now + .seconds(settings.timeout)
        }
        guard input.count > settings.longestLine else { return }
        refuse("a line has at most \(settings.longestLine) bytes")
        flush()
        ended = ended ?? .protocolViolation
    }

    /// Answers that a request cannot be served, and why.
    func refuse(_ reason: String) { send(Self.refusal(reason)) }

    static func refusal(_ reason: String) -> String {
        let answer: JSON = ["ok": .bool(false), "error": .string(reason)]
        return answer.description
    }

    func nextLine() -> String? { lines.isEmpty ? nil : lines.removeFirst() }

    /// Nobody reads the answer any more.
    func hangUp() { ended = ended ?? .gone }

    func dropLines() { lines.removeAll() }

    /// Reads no further line until ``answer(_:)``.
    func hold() { isAwaiting = true }

    /// Answers the line that was waited for.
    func answer(_ line: String) {
        isAwaiting = false
        silenceEnd = Clock.now + .seconds(settings.timeout)
        send(line)
    }

    /// Appends a line to the output; ``flush()`` sends it.
    func send(_ line: String) {
        guard ended == nil else { return }
        output += line.utf8
        output.append(10)
    }

    /// Sends as much output as the system takes. A client with too much unsent output is closed as slow.
    func flush() {
        guard ended == nil, !output.isEmpty else { return }
        var sent = 0
        while sent < output.count {
            let count = output.withUnsafeBytes {
                Glibc.send(descriptor.rawValue, $0.baseAddress.map { $0 + sent }, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno != EAGAIN { ended = .gone }
            guard count > 0 else { break }
            sent += count
        }
        output.removeFirst(sent)
        if output.isEmpty {
            readingEnd = nil
        } else if sent > 0 || readingEnd == nil {
            readingEnd = Clock.now + .seconds(settings.timeout)
        }
        if output.count > settings.pending { ended = ended ?? .slow }
    }
}
