import Core
import Glibc
import Network
import System

/// One connection of an ``HTTPLoop``; the library keeps a pointer to it.
final class HTTPConnection {
    let socket: Int32
    let peer: Peer
    /// Whether it has one of the places for monitors.
    let isReserved: Bool
    /// When it is ended; nil while a stream or a change goes on.
    var deadline: Instant?
    /// Whether the whole head of a request has come, and its answer has not gone.
    var isInRequest = false {
        didSet { hasAsked = hasAsked || isInRequest }
    }
    var isAnswering = false
    /// Whether it was ended here, and the library has not noticed yet.
    var isEnding = false
    /// Whether the whole head of a request has come once.
    private var hasAsked = false
    /// Since when it waits for a request.
    private var idleSince = Clock.now

    /// Time that a new connection has for its first head before it makes room for another one.
    static let grace = Duration.milliseconds(100)

    init(_ socket: Int32, _ peer: Peer, isReserved: Bool, _ deadline: Instant) {
        (self.socket, self.peer, self.isReserved, self.deadline) = (socket, peer, isReserved, deadline)
    }

    /// After an answer: another request has to come until then.
    func rest(until deadline: Instant) {
        self.deadline = deadline
        (isInRequest, isAnswering, idleSince) = (false, false, Clock.now)
    }

    /// Whether it is so new that its first head may be on its way.
    func isNew(at now: Instant) -> Bool { !hasAsked && now - idleSince < Self.grace }

    /// As ``Places`` sees it.
    func holder(at now: Instant) -> Places.Holder {
        Places.Holder(peer, isSilent: !isInRequest, since: idleSince, isKept: isNew(at: now))
    }
}

/// One request; the library keeps a pointer to it.
final class HTTPExchange {
    let number: UInt64
    let connection: OpaquePointer
    var request: WebRequest
    var isTooLarge = false
    var answer: WebAnswer?

    init(_ number: UInt64, _ connection: OpaquePointer, _ request: WebRequest) {
        (self.number, self.connection, self.request) = (number, connection, request)
    }
}

/// A response without an end to one client; the library keeps a pointer to it.
final class HTTPStream {
    unowned let loop: HTTPLoop
    let connection: OpaquePointer
    let socket: Int32
    let source: any MessageSource
    let start = Clock.now
    var rest: ArraySlice<UInt8> = []
    var isSuspended = false
    /// Whether it was ended here.
    var isOver = false
    /// When the library last asked for more.
    var lastRead = Clock.now
    /// Bytes of a probe that are still to be sent; see ``probe(at:)``.
    private(set) var probeLeft = 0
    private var lastProbe: Instant?

    /// More than the systems of both ends keep for a client that reads nothing.
    private static let probeSize = 256 << 10
    private static let probeInterval = Duration.seconds(30)

    init(_ loop: HTTPLoop, _ connection: OpaquePointer, _ socket: Int32, _ source: any MessageSource) {
        (self.loop, self.connection, self.socket, self.source) = (loop, connection, socket, source)
    }

    /// Sends a long comment, where places run short: a page that reads does so at once, and drops it. The system of one that reads nothing
    /// takes some 64 KiB of messages in its place, which are half a minute and more; so it is noticed now, when the comment does not go.
    func probe(at now: Instant) {
        guard lastProbe.map({ now - $0 >= Self.probeInterval }) ?? true else { return }
        lastProbe = now
        probeLeft = Self.probeSize
    }

    /// The next part of a probe: a comment of server-sent events.
    func probePart() -> [UInt8] {
        let count = min(probeLeft, 8 << 10)
        probeLeft -= count
        return [UInt8(ascii: ":")] + [UInt8](repeating: UInt8(ascii: " "), count: count) + Array("\n\n".utf8)
    }

    /// Whether there is something to send.
    var hasMore: Bool { probeLeft > 0 || source.hasMore }

    /// Whether the client has read nothing for so long, though there was something to read.
    func isStalled(at now: Instant, _ timeout: Duration) -> Bool { !isSuspended && now - lastRead >= timeout }
}
