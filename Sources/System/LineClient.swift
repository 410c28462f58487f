import Core
import Glibc

/// One connection of a ``LineServer``: its input, and what waits to be sent. Used by the server's thread alone.
final class LineClient {
    enum End { case gone, slow, protocolViolation }

    let descriptor: FileDescriptor
    var listens = false

    private let settings: LineServer.Settings
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var lines: [String] = []
    private var ended: End?
    /// When a client times out: one that sends nothing, and one that does not read.
    private var silenceEnd: Instant
    private var readingEnd: Instant?

    init(_ descriptor: consuming FileDescriptor, settings: LineServer.Settings) {
        self.descriptor = descriptor
        self.settings = settings
        silenceEnd = Clock.now + .seconds(settings.timeout)
        // The system would keep hundreds of kilobytes for a client that does not read.
        var size: Int32 = 16 << 10
        setsockopt(self.descriptor.rawValue, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Whether something waits to be sent.
    var isWaiting: Bool { !output.isEmpty }

    /// When it must be checked even if nothing happens.
    var deadline: Instant? {
        if let readingEnd { return listens ? readingEnd : min(readingEnd, silenceEnd) }
        return listens ? nil : silenceEnd
    }

    /// Why it is to be closed, if it is.
    func end(now: Instant) -> End? {
        if let ended { return ended }
        if let readingEnd, now >= readingEnd { return .slow }
        return !listens && now >= silenceEnd ? .protocolViolation : nil
    }

    /// Reads at most 4 KiB, so that no client keeps the thread to itself.
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
            lines.append(String(decoding: input[..<end], as: UTF8.self))
            input.removeSubrange(...end)
            silenceEnd = Clock.now + .seconds(settings.timeout)
        }
        guard input.count > settings.longestLine else { return }
        send("{\"ok\": false, \"error\": \"a line has at most \(settings.longestLine) bytes\"}")
        flush()
        ended = ended ?? .protocolViolation
    }

    func nextLine() -> String? { lines.isEmpty ? nil : lines.removeFirst() }

    /// Appends a line to what waits.
    func send(_ line: String) {
        guard ended == nil else { return }
        output += line.utf8
        output.append(10)
    }

    /// Sends as much as the system takes. A client for which too much waits is closed as slow.
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
