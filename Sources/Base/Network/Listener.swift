public import Core
public import Glibc
import Synchronization
public import System

/// Who is at the other end of a connection, as far as the system says: a server counts its connections by it.
public enum Peer: Hashable, Sendable {
    /// The user who connected to a unix socket (SO_PEERCRED).
    case user(UInt32)
    /// An IPv4 address.
    case address(UInt32)
    /// The first 64 bits of an IPv6 address, as who has one address of such a network may take all; with the interface, where it is
    /// link-local.
    case network(UInt64, zone: String?)
    case unknown

    public init(_ address: IPAddress) {
        let number = address.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        let isFour = address.bytes.count == 4
        self = isFour ? .address(UInt32(truncatingIfNeeded: number)) : .network(number, zone: address.zone)
    }

    /// - Parameter descriptor: a connected stream socket.
    public init(of descriptor: Int32) {
        if let address = IPAddress(peerOf: descriptor) {
            self = Peer(address)
        } else {
            self = UnixSocket.user(of: descriptor).map { .user($0) } ?? .unknown
        }
    }
}

extension Peer: CustomStringConvertible {
    /// As people may know it, such as `192.168.1.20`, `2001:db8:0:1::/64` or `user 1000`.
    public var description: String {
        switch self {
        case .user(let user): return "user \(user)"
        case .address(let number):
            return stride(from: 24, through: 0, by: -8).map { "\(number >> $0 & 0xFF)" }.joined(separator: ".")
        case .network(let number, let zone):
            let parts = stride(from: 48, through: 0, by: -16).map { String(number >> $0 & 0xFFFF, radix: 16) }
            return parts.joined(separator: ":") + "::/64" + (zone.map { "%\($0)" } ?? "")
        case .unknown: return "unknown"
        }
    }
}

/// A connection that a ``Listener`` has accepted: non-blocking and closed on exec.
public struct Connection: ~Copyable, Sendable {
    public let descriptor: FileDescriptor
    public let peer: Peer

    public init(_ descriptor: consuming FileDescriptor, _ peer: Peer) {
        self.descriptor = descriptor
        self.peer = peer
    }

    /// The descriptor alone.
    public consuming func take() -> FileDescriptor { descriptor }

    /// Tells the other end why it is not served, as far as the system takes the bytes at once; then the connection is closed.
    public consuming func refuse(_ bytes: [UInt8]) {
        // What it has sent is dropped: the system would reset a connection with unread bytes, and the other end not read the reason.
        _ = recv(descriptor.rawValue, nil, 1 << 20, Int32(MSG_TRUNC | MSG_DONTWAIT))
        _ = send(descriptor.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
}

/// The listening sockets of a server, and how connections are accepted: the same for every server.
///
/// The server's thread asks for ``requests(at:)``, waits for them together with its own descriptors, and calls ``accept(_:_:)`` with
/// the answers. Where the system has no descriptor or memory for a connection, none is accepted for a while: the thread would
/// otherwise be woken again and again.
public final class Listener: Sendable {
    private struct State {
        var sockets: [ListeningSocket]
        /// When connections are accepted again.
        var pause = Instant(nanoseconds: 0)
    }

    /// Connections that are accepted at a time, so that clients that connect again and again leave time for the others.
    public static let mostAtOnce = 64
    private static let pauseTime = Duration.milliseconds(100)

    /// Where it listens, with the ports that the system chose.
    public let addresses: [ListenAddress]
    private let state: Mutex<State>

    /// Begins to listen.
    ///
    /// - Throws: ``SocketError``, for instance if another program listens at an address.
    public init(_ addresses: [ListenAddress]) throws(SocketError) {
        var sockets: [ListeningSocket] = []
        for address in addresses { sockets.append(try ListeningSocket(address)) }
        self.addresses = sockets.map(\.address)
        state = Mutex(State(sockets: sockets))
    }

    /// Whether other machines can connect.
    public var isOpen: Bool { addresses.contains { !$0.isLocal } }

    /// Requests of ``requests(at:)``.
    public var count: Int { addresses.count }

    /// What to wait for; nothing in a pause.
    public func requests(at now: Instant) -> [pollfd] {
        let (sockets, isPaused) = state.withLock { ($0.sockets, now < $0.pause) }
        guard sockets.count == count else { return addresses.map { _ in Poll.request(-1, 0) } }
        return sockets.map { Poll.request(isPaused ? -1 : $0.descriptor.rawValue, POLLIN) }
    }

    /// The end of a pause; nil if there is none.
    public func deadline(at now: Instant) -> Instant? {
        state.withLock { now < $0.pause ? $0.pause : nil }
    }

    /// Accepts connections that wait.
    ///
    /// - Parameters:
    ///   - answers: to ``requests(at:)``, and no more.
    ///   - most: connections that are accepted; the others wait.
    ///   - take: gets each connection.
    public func accept(
        _ answers: some Sequence<pollfd>,
        most: Int = .max,
        _ take: (consuming Connection) -> Void
    ) {
        let sockets = state.withLock { $0.sockets }
        var left = most
        for (socket, answer) in zip(sockets, answers) where answer.revents != 0 {
            accept(from: socket, &left, take)
        }
    }

    private func accept(from socket: ListeningSocket, _ left: inout Int, _ take: (consuming Connection) -> Void) {
        for _ in 0..<Self.mostAtOnce where left > 0 {
            switch socket.accept() {
            case .connection(let connection):
                left -= 1
                take(connection)
            case .none: return
            case .exhausted:
                state.withLock { $0.pause = Clock.now + Self.pauseTime }
                return
            }
        }
    }

    /// Makes the file of a unix socket again if it was deleted; connections stay. A file that another program has put in its place is
    /// left alone.
    ///
    /// - Returns: whether one was made again.
    /// - Throws: ``SocketError``, for instance if its folder was deleted too.
    public func restore() throws(SocketError) -> Bool {
        var sockets = state.withLock { $0.sockets }
        var isNew = false
        for index in sockets.indices where !sockets[index].hasFile {
            let new = try ListeningSocket(sockets[index].address)
            sockets[index].giveUpFile()
            sockets[index] = new
            isNew = true
        }
        if isNew { state.withLock { $0.sockets = sockets } }
        return isNew
    }

    /// Removes the files of its unix sockets: nobody can connect any more. Any thread.
    public func removeFiles() {
        for socket in state.withLock({ $0.sockets }) { socket.removeFile() }
    }

    /// Closes its sockets, by the thread that accepts: whoever waits for its end may listen there again.
    public func close() { state.withLock { $0.sockets = [] } }
}
