import Core

/// Reports audio that was lost inside the service: hops that a change of settings cost, and parts of a recording.
///
/// At most one line of a kind every ten seconds; what is lost in between is counted in the next.
struct LossReport {
    private static let interval = Duration.seconds(10)

    private struct Kind {
        var told: UInt64 = 0
        var next = Instant(nanoseconds: 0)

        /// What came since the last report; nil if there is nothing to report now.
        mutating func take(_ count: UInt64, at now: Instant) -> UInt64? {
            guard count > told, now >= next else { return nil }
            next = now + LossReport.interval
            defer { told = count }
            return count - told
        }
    }

    private var missed = Kind()
    private var unrecorded = Kind()

    /// The lines that are due at `now`, on the monotonic clock.
    ///
    /// - Parameters: the hops that changes of settings cost and the samples that a recording lacks, since the start.
    mutating func messages(hopsMissed: UInt64, samplesLost: Int, at now: Instant) -> [String] {
        var lines: [String] = []
        if let hops = missed.take(hopsMissed, at: now) {
            let length = decimal(Double(hops) * AudioFormat.hopSeconds, 1)
            lines.append("new settings cost \(hops) hops (\(length) s of audio), in which no word was found")
        }
        if let samples = unrecorded.take(UInt64(max(0, samplesLost)), at: now) {
            let length = decimal(Double(samples) / Double(AudioFormat.sampleRate), 1)
            lines.append("the recording lacks \(length) s of audio, as the disk was too slow")
        }
        return lines
    }
}
