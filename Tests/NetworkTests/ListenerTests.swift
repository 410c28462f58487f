import Core
import Glibc
import Synchronization
import System
import TestSupport
import Testing

@testable import Network

/// Accepting connections, whatever the system has left for them.
struct ListenerTests {
    @Test func `it knows the peer of each connection`() throws {
        let folder = try TestFolder()
        let listener = try Listener([
            .tcp(host: "127.0.0.1", port: 0), .tcp(host: "::", port: 0), .unix(path: folder.file("s")),
        ])
        let ports = listener.addresses.compactMap(\.port)
        let clients = [
            try connect(ports[0], "127.0.0.3"), try connect(ports[1], "127.0.0.4"),
        ]
        defer { for client in clients { close(client) } }
        let local = try Client(folder.file("s"))
        var peers: Set<Peer> = []
        #expect(
            comesTrue {
                var answers = listener.requests(at: Clock.now)
                Poll.wait(&answers, until: Clock.now + .milliseconds(10))
                listener.accept(answers) { peers.insert($0.peer) }
                return peers.count == 3
            }
        )
        let addresses = try ["127.0.0.3", "127.0.0.4"].map { Peer(try #require(IPAddress($0))) }
        #expect(peers == Set(addresses + [.user(getuid())]))
        withExtendedLifetime(local) {}
    }

    @Test func `without descriptors it neither spins nor stops for good`() throws {
        let listener = try Listener([.tcp(host: "127.0.0.1", port: 0)])
        let port = try #require(listener.addresses.first?.port)
        let clients = try (0..<3).map { _ in try connect(port, "127.0.0.1") }
        defer { for client in clients { close(client) } }
        let result = Mutex<Starved?>(nil)
        // A thread with a table of descriptors of its own: the other tests keep theirs.
        let finished = Latch()
        _ = try SystemThread(name: "starved", stackSize: 1 << 20, or: Self.unchanged) {
            result.withLock { $0 = Starved(listener) }
            finished.open()
        }
        #expect(finished.wait(until: Clock.now + .seconds(60)))
        let starved = try #require(result.withLock { $0 })
        #expect(starved.accepted == 0, "there was no descriptor for them")
        #expect(starved.waitsForSocket == false, "poll would return at once, again and again")
        #expect(starved.hasDeadline, "nobody would look again")
        #expect(starved.pauses >= 2, "still no descriptor: it pauses again")
        #expect(starved.acceptedLater == 3, "descriptors are free again")
    }

    private static func unchanged(_ error: SystemError) -> SystemError { error }

    /// What a listener does in a thread that has used all its descriptors, and then not.
    private struct Starved {
        var accepted = 0
        var waitsForSocket: Bool?
        var hasDeadline = false
        var pauses = 0
        var acceptedLater = 0

        init?(_ listener: Listener) {
            typealias Unshare = @convention(c) (Int32) -> Int32
            let ownFiles: Int32 = 0x400
            guard let symbol = dlsym(nil, "unshare"), unsafeBitCast(symbol, to: Unshare.self)(ownFiles) == 0 else {
                return nil
            }
            var used: [Int32] = []
            defer { for one in used { close(one) } }
            while true {
                let one = dup(STDERR_FILENO)
                guard one >= 0 else { break }
                used.append(one)
            }
            guard errno == EMFILE else { return nil }
            for _ in 0..<2 {
                accepted += accept(listener, until: Clock.now + .seconds(10))
                let now = Clock.now
                guard let deadline = listener.deadline(at: now) else { return }
                hasDeadline = true
                waitsForSocket = listener.requests(at: now).contains { $0.fd >= 0 }
                pauses += 1
                Clock.sleep(until: deadline)
            }
            for one in used { close(one) }
            used = []
            while acceptedLater < 3 {
                let count = accept(listener, until: Clock.now + .seconds(10))
                guard count > 0 else { return }
                acceptedLater += count
            }
        }

        private func accept(_ listener: Listener, until end: Instant) -> Int {
            var answers = listener.requests(at: Clock.now)
            Poll.wait(&answers, until: end)
            var count = 0
            listener.accept(answers) { _ in count += 1 }
            return count
        }
    }

    /// Connects from an address of this machine. The caller closes the descriptor.
    private func connect(_ port: UInt16, _ own: String) throws -> Int32 {
        func address(_ host: String, _ port: UInt16) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            inet_pton(AF_INET, host, &address.sin_addr)
            return address
        }
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        func call(_ address: sockaddr_in, _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
            withUnsafeBytes(of: address) { bytes in
                guard let base = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
                return function(number, base, socklen_t(bytes.count))
            }
        }
        try #require(call(address(own, 0), Glibc.bind) == 0)
        try #require(call(address("127.0.0.1", port), Glibc.connect) == 0)
        return number
    }
}
