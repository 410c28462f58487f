import Glibc
import Synchronization
import System

/// An address of a host, and its port.
struct NetworkAddress: Sendable {
    /// AF_INET or AF_INET6.
    let family: Int32
    /// A `sockaddr` of this family.
    private let bytes: [UInt8]

    /// Nil for an entry of another family.
    init?(_ entry: addrinfo) {
        guard let address = entry.ai_addr, entry.ai_family == AF_INET || entry.ai_family == AF_INET6 else { return nil }
        family = entry.ai_family
        bytes = Array(UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen)))
    }

    /// Whether it is this machine.
    var isLoopback: Bool {
        bytes.withUnsafeBytes { bytes in
            if family == AF_INET {
                guard bytes.count >= MemoryLayout<sockaddr_in>.size else { return false }
                return UInt32(bigEndian: bytes.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr) >> 24 == 127
            }
            guard bytes.count >= MemoryLayout<sockaddr_in6>.size else { return false }
            var host = bytes.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            var loopback = in6addr_loopback
            return memcmp(&host, &loopback, MemoryLayout<in6_addr>.size) == 0
        }
    }

    /// Begins to connect a socket. Returns 0 or the errno.
    func connect(_ descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return Glibc.connect(descriptor, address, socklen_t(bytes.count)) == 0 ? 0 : errno
        }
    }
}

/// The look-up of a host's addresses on a thread of its own, because `getaddrinfo` waits for name servers and cannot be
/// ended early.
///
/// A look-up that is given up leaves its thread behind until the C library gives up too, after half a minute or so;
/// ``limit`` bounds the number of these threads.
final class NameLookup: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let text: String
        var description: String { text }
    }

    /// Finds the addresses of a host; may block.
    typealias Resolver = @Sendable (_ host: String, _ port: UInt16) -> Result<[NetworkAddress], Failure>

    /// Most look-ups at a time, in the whole process.
    static let limit = 16
    private static let running = Atomic<Int>(0)

    private let found = Mutex<Result<[NetworkAddress], Failure>?>(nil)
    private let done: EventFD

    /// Readable when ``result`` is there.
    var descriptor: Int32 { done.descriptor }

    var result: Result<[NetworkAddress], Failure> {
        found.withLock { $0 } ?? .failure(Failure(text: "the look-up has not ended"))
    }

    /// Starts the look-up.
    ///
    /// - Throws: ``ActionError/webhook`` if too many look-ups hang, ``ActionError/thread``.
    init(host: String, port: UInt16, _ resolve: @escaping Resolver) throws(ActionError) {
        done = try EventFD(or: ActionError.noEventFD)
        guard Self.running.add(1, ordering: .relaxed).newValue <= Self.limit else {
            Self.running.subtract(1, ordering: .relaxed)
            throw .webhook.saying(
                "cannot find \(host): \(Self.limit) look-ups wait for the name server already; check it"
            )
        }
        do throws(ActionError) {
            _ = try SystemThread(name: "beckon-lookup", stackSize: 512 << 10, or: ActionError.noThread) { [self] in
                let result = resolve(host, port)
                found.withLock { $0 = result }
                Self.running.subtract(1, ordering: .relaxed)
                done.signal()
            }
        } catch {
            Self.running.subtract(1, ordering: .relaxed)
            throw error
        }
    }

    /// The C library's resolver.
    static let system: Resolver = { host, port in addresses(host, port, flags: 0) }

    /// The address that a host's text is, such as `127.0.0.1`; nil for a name. Does not wait.
    static func numeric(host: String, port: UInt16) -> [NetworkAddress]? {
        try? addresses(host, port, flags: AI_NUMERICHOST).get()
    }

    private static func addresses(
        _ host: String,
        _ port: UInt16,
        flags: Int32
    ) -> Result<[NetworkAddress], Failure> {
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let error = getaddrinfo(host, String(port), &hints, &list)
        guard error == 0 else { return .failure(Failure(text: String(cString: gai_strerror(error)))) }
        defer { if let list { freeaddrinfo(list) } }
        var addresses: [NetworkAddress] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ai_next
            if let address = NetworkAddress(entry) { addresses.append(address) }
        }
        return .success(addresses)
    }
}
