import Actions
private import Capture
private import Core
import Daemon
import System

/// Tells the service manager how the service is: ready, alive while audio comes, and what it does.
struct Watchdog {
    private let manager: SystemdNotifier
    private let start = Clock.now
    private var isReady = false
    private var hops: UInt64 = 0
    private var lastProgress = Clock.now
    private var lastAlive = Instant(nanoseconds: 0)
    private var lastStatus = ""

    init(manager: SystemdNotifier) { self.manager = manager }

    /// Called several times a second.
    mutating func look(at listener: Listener) {
        let now = Clock.now
        let heard = listener.detectorStatus
        let state = listener.microphone?.status.state
        if heard.hops != hops { (hops, lastProgress) = (heard.hops, now) }
        // Without a device there is nothing to hear, and nothing that a restart could mend.
        let isExcused = state.map { [.waiting, .lost, .muted].contains($0) } ?? true
        if isExcused { lastProgress = now }
        if !isReady, heard.hops > 0 || isExcused && now - start > .seconds(5) {
            isReady = true
            manager.tellReady()
        }
        if let period = manager.watchdog, now - lastAlive > period / 3, now - lastProgress < period / 2 {
            lastAlive = now
            manager.tellAlive()
        }
        let status = text(listener)
        if status != lastStatus {
            lastStatus = status
            manager.tell(status: status)
        }
    }

    private func text(_ listener: Listener) -> String {
        guard let status = listener.microphone?.status else { return "Playing a file" }
        let device = status.device.isEmpty ? "a microphone" : status.device
        let events = listener.actionCounts.events
        return switch status.state {
        case .running, .recovering: "Listening to \(device); \(events) words heard"
        case .waiting, .lost: "Waiting for \(device)\(status.problem.isEmpty ? "" : ": \(status.problem)")"
        case .muted: "Muted"
        case .stopped: "Stopping"
        }
    }
}
