import Capture
import Core
import System

/// Notifies systemd: ready, keep-alive for the watchdog, status line. Used by the main thread.
struct Watchdog {
    /// What systemd shall know of the service.
    struct Health {
        var isReady = true
        /// When the service last did its work, or had an excuse not to.
        var lastProgress = Clock.now
        /// The line of `systemctl status`.
        var status: String
    }

    private let notifier: SystemdNotifier
    private var isReady = false
    private var lastAlive = Instant(nanoseconds: 0)
    private var lastStatus = ""

    init(_ notifier: SystemdNotifier) { self.notifier = notifier }

    /// Sends the notifications that are due; call it several times a second.
    mutating func report(_ health: Health) {
        let now = Clock.now
        if !isReady, health.isReady { isReady = notifier.notifyReady() }
        if let period = notifier.watchdogPeriod, now - lastAlive > period / 3, now - health.lastProgress < period / 2,
            notifier.notifyAlive()
        {
            lastAlive = now
        }
        if health.status != lastStatus {
            lastStatus = health.status
            notifier.report(status: health.status)
        }
    }
}

/// Whether audio is scored: the health of a service with a detector.
struct AudioHealth {
    private let pipeline: Pipeline
    private let start = Clock.now
    private var hops: UInt64 = 0
    private var lastProgress = Clock.now

    init(_ pipeline: Pipeline) { self.pipeline = pipeline }

    /// Looks at the service; call it several times a second.
    mutating func look() -> Watchdog.Health {
        let now = Clock.now
        let detector = pipeline.detector.status
        let state = pipeline.microphone?.status.state
        if detector.hops != hops { (hops, lastProgress) = (detector.hops, now) }
        // Without a device there is no audio, and a restart would not help.
        let isExcused = state.map { [.waiting, .lost, .muted].contains($0) } ?? true
        if isExcused { lastProgress = now }
        let isReady = detector.hops > 0 || isExcused && now - start > .seconds(5)
        return Watchdog.Health(isReady: isReady, lastProgress: lastProgress, status: text)
    }

    private var text: String {
        guard let status = pipeline.microphone?.status else { return "Playing a file" }
        let device = status.device.isEmpty ? "a microphone" : status.device
        return switch status.state {
        case .running, .recovering:
            "Listening to \(device); \(counted(pipeline.dispatcher.counts.events, "word")) heard"
        case .waiting, .lost: "Waiting for \(device)\(status.problem.isEmpty ? "" : ": \(status.problem)")"
        case .muted: "Muted"
        case .stopped: "Stopping"
        }
    }
}
