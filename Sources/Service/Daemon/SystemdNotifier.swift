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
        socket = path == nil ? FileDescriptor(-1) : UnixSocket.makeSender()
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
        return UnixSocket.send(Array(message.utf8), from: socket, to: path)
    }
}
