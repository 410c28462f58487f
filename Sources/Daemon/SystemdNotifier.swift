private import CSystemd
import Core
import Synchronization
import System

/// Notifies systemd of the service's state through libsystemd's `sd_notify`. Does nothing if systemd did not start the
/// program. Any thread.
final class SystemdNotifier: Sendable {
    /// The watchdog timeout that systemd set (`WatchdogSec=`); nil if there is none.
    let watchdogPeriod: Duration?
    private let isReady = Atomic<Bool>(false)

    init() {
        var microseconds: UInt64 = 0
        let isWanted = sd_watchdog_enabled(0, &microseconds) > 0
        watchdogPeriod = isWanted ? .microseconds(Int64(clamping: microseconds)) : nil
    }

    /// Reports that the service is ready.
    func tellReady() {
        isReady.store(true, ordering: .relaxed)
        _ = sd_notify(0, "READY=1")
    }

    /// Sets the status line of `systemctl status`.
    func tell(status: String) { _ = sd_notify(0, "STATUS=" + printable(status)) }

    func tellAlive() { _ = sd_notify(0, "WATCHDOG=1") }

    func tellStopping() { _ = sd_notify(0, "STOPPING=1") }

    /// Reports that the service is reloading while `body` runs. Before the first ``tellReady()`` nothing is reported,
    /// because the end of a reload would count as ready.
    func reloading<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard isReady.load(ordering: .relaxed) else { return try body() }
        _ = sd_notify(0, "RELOADING=1\nMONOTONIC_USEC=\(Clock.now.nanoseconds / 1000)")
        defer { tellReady() }
        return try body()
    }
}
