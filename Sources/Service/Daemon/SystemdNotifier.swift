import Core
private import Glibc
import Network
import Synchronization
import System

/// Notifies systemd of the service's state by its protocol: one datagram per message, see sd_notify(3). Does nothing if
/// systemd did not start the program. Any thread; never waits.
///
/// libsystemd's `sd_notify` is not used, because it waits while systemd does not read.
final class SystemdNotifier: Sendable {
    /// The watchdog timeout that systemd set (`WatchdogSec=`); nil if there is none.
    let watchdogPeriod: Duration?
    private let socket: FileDescriptor
    private let path: String?
    private let isReady = Atomic<Bool>(false)

    /// - Parameter environment: the program's environment variables.
    init(environment: [String: String]) {
        let isWatched = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        let period = isWatched ? environment["WATCHDOG_USEC"].flatMap { Int64(digits: $0) } : nil
        watchdogPeriod = period.flatMap { $0 > 0 ? .microseconds($0) : nil }
        path = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        socket = FileDescriptor(path == nil ? -1 : Glibc.socket(AF_UNIX, type, 0))
    }

    /// Reports that the service is ready. Returns false if the message could not be sent now.
    @discardableResult
    func notifyReady() -> Bool {
        isReady.store(true, ordering: .relaxed)
        return send("READY=1")
    }

    /// Sets the status line of `systemctl status`.
    func report(status: String) { send("STATUS=" + printable(status)) }

    /// Returns false if the message could not be sent now.
    func notifyAlive() -> Bool { send("WATCHDOG=1") }

    func notifyStopping() { send("STOPPING=1") }

    /// Reports that the service is reloading while `body` runs. Before the first ``notifyReady()`` nothing is reported,
    /// because the end of a reload would count as ready.
    func reloading<Result>(_ body: () throws -> Result) rethrows -> Result {
        let message = "RELOADING=1\nMONOTONIC_USEC=\(Clock.now.nanoseconds / 1000)"
        guard isReady.load(ordering: .relaxed), send(message) else { return try body() }
        defer {
            // Without the second message systemd would wait for the end of the reload.
            let end = Clock.now + .seconds(1)
            while !notifyReady(), Clock.now < end { Clock.sleep(until: Clock.now + .milliseconds(50)) }
        }
        return try body()
    }

    @discardableResult
    private func send(_ message: String) -> Bool {
        guard let path else { return true }
        guard socket.isOpen, var address = UnixSocket.address(path) else { return false }
        // A name in the abstract name space begins with @, which stands for a zero byte; it ends with its last byte.
        let isAbstract = path.hasPrefix("@")
        if isAbstract { address.sun_path.0 = 0 }
        let length =
            isAbstract
            ? MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + path.utf8.count } ?? 0
            : MemoryLayout<sockaddr_un>.size
        let bytes = Array(message.utf8)
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(socket.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
            }
        }
        return sent == bytes.count
    }
}
