import Capture
import Core
import System

/// Notifies systemd: ready, keep-alive for the watchdog while audio is processed, status line. Used by the main thread.
struct Watchdog {
    private let notifier: SystemdNotifier
    private let start = Clock.now
    private var isReady = false
    private var hops: UInt64 = 0
    private var lastProgress = Clock.now
    private var lastAlive = Instant(nanoseconds: 0)
    private var lastStatus = ""

    init(_ notifier: SystemdNotifier) { self.notifier = notifier }

    /// Sends the notifications that are due; call it several times a second.
    mutating func look(at daemon: Daemon) {
        let now = Clock.now
        let detector = daemon.detectorStatus
        let state = daemon.microphone?.status.state
        if detector.hops != hops { (hops, lastProgress) = (detector.hops, now) }
        // Without a device there is no audio, and a restart would not help.
        let isExcused = state.map { [.waiting, .lost, .muted].contains($0) } ?? true
        if isExcused { lastProgress = now }
        if !isReady, detector.hops > 0 || isExcused && now - start > .seconds(5) {
            isReady = notifier.tellReady()
        }
        if let period = notifier.watchdogPeriod, now - lastAlive > period / 3, now - lastProgress < period / 2,
            notifier.tellAlive()
        {
            lastAlive = now
        }
        let status = text(daemon)
        if status != lastStatus {
            lastStatus = status
            notifier.tell(status: status)
        }
    }

    private func text(_ daemon: Daemon) -> String {
        guard let status = daemon.microphone?.status else { return "Playing a file" }
        let device = status.device.isEmpty ? "a microphone" : status.device
        return switch status.state {
        case .running, .recovering: "Listening to \(device); \(daemon.eventCounts.events) words heard"
        case .waiting, .lost: "Waiting for \(device)\(status.problem.isEmpty ? "" : ": \(status.problem)")"
        case .muted: "Muted"
        case .stopped: "Stopping"
        }
    }
}
