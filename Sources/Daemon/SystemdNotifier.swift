import CSystemd
import Core
import System

/// The service manager that started this program, where there is one: told what happens through libsystemd.
public struct SystemdNotifier: Sendable {
    /// How often it wants a sign of life; nil where it does not.
    public let watchdog: Duration?

    public init() {
        var microseconds: UInt64 = 0
        let isWanted = sd_watchdog_enabled(0, &microseconds) > 0
        watchdog = isWanted ? .microseconds(Int64(clamping: microseconds)) : nil
    }

    /// The service listens.
    public func tellReady() { _ = sd_notify(0, "READY=1") }

    /// A line for `systemctl status`.
    public func tell(status: String) { _ = sd_notify(0, "STATUS=" + printable(status)) }

    public func tellAlive() { _ = sd_notify(0, "WATCHDOG=1") }

    public func tellReloading() {
        _ = sd_notify(0, "RELOADING=1\nMONOTONIC_USEC=\(Clock.now.nanoseconds / 1000)")
    }

    public func tellStopping() { _ = sd_notify(0, "STOPPING=1") }
}
