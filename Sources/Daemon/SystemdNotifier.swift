private import CSystemd
import Core
import Synchronization
import System

/// Tells the service manager that started this program, where there is one, how the service is; through libsystemd.
final class SystemdNotifier: Sendable {
    /// How often it wants a sign of life; nil where it does not.
    let watchdogPeriod: Duration?
    private let isReady = Atomic<Bool>(false)

    init() {
        var microseconds: UInt64 = 0
        let isWanted = sd_watchdog_enabled(0, &microseconds) > 0
        watchdogPeriod = isWanted ? .microseconds(Int64(clamping: microseconds)) : nil
    }

    /// The service listens.
    func tellReady() {
        isReady.store(true, ordering: .relaxed)
        _ = sd_notify(0, "READY=1")
    }

    /// A line for `systemctl status`.
    func tell(status: String) { _ = sd_notify(0, "STATUS=" + printable(status)) }

    func tellAlive() { _ = sd_notify(0, "WATCHDOG=1") }

    func tellStopping() { _ = sd_notify(0, "STOPPING=1") }

    /// Says that the service is reloading while `body` runs; not before it was ready, as it would then be ready too early.
    func reloading<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard isReady.load(ordering: .relaxed) else { return try body() }
        _ = sd_notify(0, "RELOADING=1\nMONOTONIC_USEC=\(Clock.now.nanoseconds / 1000)")
        defer { tellReady() }
        return try body()
    }
}
