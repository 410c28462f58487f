import Audio
import Core

/// Reports audio that was lost inside the service: hops that a change of settings cost, and parts of a recording.
///
/// At most one line of a kind every ten seconds; what is lost in between is counted in the next.
struct LossReport {
    private static let interval = Duration.seconds(10)

    private struct Kind {
        var told = Duration.zero
        var next = Instant(nanoseconds: 0)

        /// What came since the last report; nil if there is nothing to report now.
        mutating func take(_ lost: Duration, at now: Instant) -> Duration? {
            guard lost > told, now >= next else { return nil }
            next = now + LossReport.interval
            defer { told = lost }
            return lost - told
        }
    }

    private var settings = Kind()
    private var recording = Kind()

    /// The lines that are due at `now`, on the monotonic clock.
    mutating func messages(_ lost: LostAudio, at now: Instant) -> [String] {
        var lines: [String] = []
        if let cost = settings.take(lost[.settings], at: now) {
            let hops = decimal(cost.seconds / AudioFormat.hopSeconds, 0)
            let length = decimal(cost.seconds, 1)
            lines.append(
                "new settings cost \(hops) \(hops == "1" ? "hop" : "hops") (\(length) s of audio), in which no word was found"
            )
        }
        if let cost = recording.take(lost[.recording], at: now) {
            lines.append("the recording lacks \(decimal(cost.seconds, 1)) s of audio, as the disk was too slow")
        }
        return lines
    }
}
