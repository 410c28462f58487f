public import Glibc
public import System

/// Unix sockets with a path, all non-blocking.
public enum UnixSocket {
    /// The address of a path; nil if the path is too long.
    public static func address(_ path: String) -> sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        return withUnsafeMutableBytes(of: &address.sun_path) { room -> Bool in
            guard bytes.count < room.count else { return false }
            room.copyBytes(from: bytes)
            return true
        } ? address : nil
    }

    /// Connects without waiting; nil with `errno` set if that fails.
    public static func connect(_ path: String) -> FileDescriptor? {
        guard let address = SocketAddress(.unix(path: path)) else { return nil }
        let descriptor = address.makeSocket()
        guard descriptor.isOpen, address.call(Glibc.connect, descriptor) == 0 else { return nil }
        return descriptor
    }

    /// Creates a listening socket; replaces the file of a socket that a dead service left behind.
    ///
    /// - Parameter mode: the permission bits of the socket's file.
    /// - Throws: ``SocketError``, for instance if another service listens there or the path is not a socket.
    public static func listen(_ path: String, mode: mode_t) throws(SocketError) -> FileDescriptor {
        func failure(_ function: String, _ number: Int32) -> SocketError {
            SocketError(
                "cannot listen at \(path): \(function): \(SystemError.text(number)); check the folder and its "
                    + "permissions"
            )
        }
        guard let address = SocketAddress(.unix(path: path)) else { throw failure("bind", ENAMETOOLONG) }
        try removeStale(path)
        let descriptor = address.makeSocket()
        guard descriptor.isOpen else { throw failure("socket", errno) }
        // On Linux the file gets the mode of the socket, so it never has wider permissions, not even for a moment.
        fchmod(descriptor.rawValue, mode)
        guard address.call(bind, descriptor) == 0 else { throw failure("bind", errno) }
        guard setMode(path, mode) else { throw failure("chmod", errno) }
        guard Glibc.listen(descriptor.rawValue, 16) == 0 else { throw failure("listen", errno) }
        return descriptor
    }

    /// The user who connected at the other end (SO_PEERCRED); nil if the system does not say.
    public static func user(of descriptor: Int32) -> UInt32? {
        // `struct ucred`: process, user and group; the Glibc module does not have it.
        var credentials: [UInt32] = [0, 0, 0]
        var size = socklen_t(12)
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0, size == 12 else { return nil }
        return credentials[1]
    }

    /// Undoes what the umask took. A link that another program put in the place of the socket is not followed.
    private static func setMode(_ path: String, _ mode: mode_t) -> Bool {
        fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW) == 0
    }

    private static func removeStale(_ path: String) throws(SocketError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SocketError(
                "cannot listen at \(path): something else has that name; remove it or choose another path"
            )
        }
        guard connect(path) == nil else {
            throw SocketError(
                "cannot listen at \(path): a service listens there already; stop it or choose another path",
                isInUse: true
            )
        }
        guard errno == ECONNREFUSED else {
            throw SocketError(
                "cannot listen at \(path): the socket there cannot be tried: \(SystemError.text(errno))"
            )
        }
        unlink(path)
    }

    /// A socket for ``send(_:from:to:)``; not open, with `errno` set, if that fails.
    public static func makeSender() -> FileDescriptor {
        FileDescriptor(socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0))
    }

    /// A socket that gets the datagrams for a path, in place of an older one of the same path.
    ///
    /// - Parameter mode: the permission bits of the socket's file.
    /// - Throws: ``SocketError``, for instance if the folder is not there.
    public static func makeReceiver(_ path: String, mode: mode_t) throws(SocketError) -> FileDescriptor {
        func failure(_ function: String, _ number: Int32) -> SocketError {
            SocketError(
                "cannot receive at \(path): \(function): \(SystemError.text(number)); check the folder and its permissions"
            )
        }
        guard let address = SocketAddress(.unix(path: path)) else { throw failure("bind", ENAMETOOLONG) }
        let descriptor = makeSender()
        guard descriptor.isOpen else { throw failure("socket", errno) }
        unlink(path)
        fchmod(descriptor.rawValue, mode)
        guard address.call(bind, descriptor) == 0 else { throw failure("bind", errno) }
        guard setMode(path, mode) else { throw failure("chmod", errno) }
        return descriptor
    }

    /// Sends a datagram to the socket of a path, without waiting.
    ///
    /// - Parameter path: one that begins with @ is a name in the abstract name space.
    /// - Returns: false, with `errno` set, if it was not sent as a whole.
    public static func send(_ bytes: [UInt8], from sender: borrowing FileDescriptor, to path: String) -> Bool {
        guard var address = address(path) else {
            errno = ENAMETOOLONG
            return false
        }
        var length = MemoryLayout<sockaddr_un>.size
        if path.hasPrefix("@") {
            // The @ stands for a zero byte, and the name ends with its last byte.
            address.sun_path.0 = 0
            length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + path.utf8.count } ?? 0
        }
        let number = sender.rawValue
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(number, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
            }
        }
        return sent == bytes.count
    }
}

/// A socket that cannot be created or used. The text is one line: the path, the failed call and what to do.
public struct SocketError: RefusalError, Equatable, Sendable, CustomStringConvertible {
    public let description: String
    /// Whether another service listens there.
    public let isInUse: Bool

    public init(_ description: String, isInUse: Bool = false) {
        self.description = description
        self.isInUse = isInUse
    }

    public init(refused text: String, _: SystemError) { self.init(text) }
}
