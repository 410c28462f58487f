import Glibc
import System

/// The address of a stream socket as system calls take it.
struct SocketAddress {
    private let storage: sockaddr_storage
    private let length: socklen_t

    /// Nil if a path is too long.
    init?(_ address: ListenAddress) {
        switch address {
        case .unix(let path):
            guard let address = UnixSocket.address(path) else { return nil }
            self.init(storing: address)
        case .tcp(let host, let port) where host.contains(":"):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            inet_pton(AF_INET6, host, &address.sin6_addr)
            self.init(storing: address)
        case .tcp(let host, let port):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            inet_pton(AF_INET, host, &address.sin_addr)
            self.init(storing: address)
        }
    }

    private init<Address>(storing address: Address) {
        var storage = sockaddr_storage()
        withUnsafeBytes(of: address) { bytes in
            withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: bytes) }
        }
        self.storage = storage
        length = socklen_t(MemoryLayout<Address>.size)
    }

    /// A new socket of this family, closed on exec; not open, with `errno` set, if the system gives none.
    func makeSocket(isBlocking: Bool = false) -> FileDescriptor {
        let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | (isBlocking ? 0 : SOCK_NONBLOCK.rawValue)
        return FileDescriptor(socket(Int32(storage.ss_family), Int32(flags), 0))
    }

    /// Calls `connect` or `bind`.
    func call(
        _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32,
        _ descriptor: borrowing FileDescriptor
    ) -> Int32 {
        let number = descriptor.rawValue
        return withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { function(number, $0, length) }
        }
    }
}
