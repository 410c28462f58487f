private import CSystem
import Glibc
import Synchronization
public import System

/// A stream socket that accepts connections, TCP or unix; non-blocking. Its file, if it has one, goes with it. Servers have a
/// ``Listener``.
public final class ListeningSocket: Sendable {
    /// With the port that the system chose, where 0 was asked for.
    public let address: ListenAddress
    public let descriptor: FileDescriptor
    /// Device and inode of a unix socket's file, so that only its own is removed.
    private let file: [UInt64]
    /// Whether another socket has the file's name now.
    private let isReplaced = Atomic<Bool>(false)

    /// Most connections that wait to be accepted. Where it is too short, a client tries again only after one and three seconds.
    private static let backlog: Int32 = 4096

    /// - Throws: ``SocketError``, for instance if another program listens there.
    public init(_ address: ListenAddress) throws(SocketError) {
        switch address {
        case .unix(let path):
            descriptor = try UnixSocket.listen(path, mode: 0o660)
            file = Self.identity(of: path)
            self.address = address
        case .tcp(let host, _):
            descriptor = try Self.listen(host, address)
            self.address = .tcp(host: host, port: Self.port(of: descriptor.rawValue))
            file = []
        }
    }

    deinit { removeFile() }

    /// Removes the file of a unix socket, unless another program has replaced it. Nobody can connect any more.
    public func removeFile() {
        guard !isReplaced.load(ordering: .relaxed) else { return }
        if case .unix(let path) = address, !file.isEmpty, Self.identity(of: path) == file { unlink(path) }
    }

    /// Leaves the file alone: a new one may have the number that the deleted one had.
    func giveUpFile() { isReplaced.store(true, ordering: .relaxed) }

    /// Whether its file, if it has one, is there, or another program has put something in its place.
    var hasFile: Bool {
        if case .unix(let path) = address { !Self.identity(of: path).isEmpty } else { true }
    }

    /// Device and inode; empty if there is no such file.
    private static func identity(of path: String) -> [UInt64] {
        var status = stat()
        return lstat(path, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : []
    }

    private static func listen(_ host: String, _ address: ListenAddress) throws(SocketError) -> FileDescriptor {
        func failure(_ function: String) -> SocketError {
            let advice =
                switch errno {
                case EADDRINUSE: "another program listens there; stop it or choose another port"
                case EADDRNOTAVAIL: "this machine does not have the address; ip address shows those it has"
                case EACCES: "choose a port from 1024 on"
                default: "check the address"
                }
            return SocketError("cannot listen at \(address): \(function): \(SystemError.text(errno)); \(advice)")
        }
        guard let target = SocketAddress(address) else { throw failure("bind") }
        let descriptor = target.makeSocket()
        guard descriptor.isOpen else { throw failure("socket") }
        // A service that starts again finds its port free, though connections of the one before linger.
        set(descriptor.rawValue, SOL_SOCKET, SO_REUSEADDR, 1)
        // `::` also takes IPv4.
        if host.contains(":") { set(descriptor.rawValue, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
        guard target.call(bind, descriptor) == 0 else { throw failure("bind") }
        guard Glibc.listen(descriptor.rawValue, backlog) == 0 else { throw failure("listen") }
        return descriptor
    }

    /// The port that a socket is bound to.
    private static func port(of descriptor: Int32) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { return 0 }
        // It stands at the same place in addresses of IPv4 and IPv6.
        let port = withUnsafeBytes(of: &storage) { $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self) }
        return UInt16(bigEndian: port)
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

extension ListeningSocket {
    /// What ``accept()`` found.
    public enum Accepted: ~Copyable {
        case connection(Connection)
        /// No connection waits.
        case none
        /// The system has no descriptor or memory for it; try again later.
        case exhausted
    }

    /// Accepts the next connection, non-blocking and closed on exec. Never waits.
    public func accept() -> Accepted {
        let connection = FileDescriptor(CSystem_accept(descriptor.rawValue))
        guard connection.isOpen else {
            return [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(errno) ? .exhausted : .none
        }
        if case .tcp = address { Self.prepare(connection.rawValue) }
        let peer = Peer(of: connection.rawValue)
        return .connection(Connection(connection, peer))
    }

    /// Small answers leave at once; a peer that is gone without a word is noticed within a minute.
    private static func prepare(_ descriptor: Int32) {
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, 30)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, 10)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPCNT, 3)
    }
}
