import Audio
import Capture
import Core
import System

/// Warns of audio that comes but cannot be heard: samples that are all zero, and faulty channels, which the mix corrects.
///
/// A pure value. Each is said once when it has lasted, and once more when it is over.
struct InputReport: Sendable {
    /// How long all samples must be zero: a loopback that nobody plays into is silent for a while, too.
    static let zeroTime = Duration.seconds(15)
    /// The shortest time between two warnings of the same faulty channels.
    static let interval = Duration.seconds(600)

    /// Since when the silence that was told of has lasted.
    private var reportedZero: Instant?
    private var reportedReading: SampleReading?
    private var hasReportedQuiet = false
    private var reportedFaults: (faults: ChannelFaults, time: Instant)?

    /// The lines that are due at `now`, on the monotonic clock.
    mutating func messages(
        of status: CaptureStatus,
        at now: Instant
    ) -> [(level: LogLevel, text: String)] {
        var lines: [(level: LogLevel, text: String)] = []
        let isHeard = status.state == .running
        let zero = isHeard ? status.zeroSince : nil
        if let zero, reportedZero == nil, now - zero >= Self.zeroTime {
            reportedZero = zero
            lines.append((.warning, Self.digitalSilence(status.device, since: zero, at: now)))
        } else if let since = reportedZero, isHeard, zero == nil {
            reportedZero = nil
            lines.append((.notice, "\(status.device): sound again after \(durationText((now - since).seconds))"))
        }
        let isDue = reportedFaults.map { $0.faults != status.faults || now - $0.time >= Self.interval } ?? true
        if isHeard, isDue, let warning = status.faults.warning(status.device) {
            reportedFaults = (status.faults, now)
            lines.append((.warning, warning))
        }
        if isHeard, let reading = status.reading {
            // Each reading of a device once, however often the device is opened.
            if reading != reportedReading, let warning = reading.warning(status.device) {
                reportedReading = reading
                lines.append((.warning, warning))
            }
            if status.isQuiet, !hasReportedQuiet, let warning = reading.quietWarning(status.device) {
                hasReportedQuiet = true
                lines.append((.warning, warning))
            }
        }
        return lines
    }

    private static func digitalSilence(_ device: String, since: Instant, at now: Instant) -> String {
        let date = Timestamp.now.adding(seconds: -(now - since).seconds).text
        return
            "\(device): digital silence since \(date): every sample is zero, so no word can be heard; a microphone that works "
            + "gives some noise: look for a mute switch, a capture volume of 0 (alsamixer, F4), the wrong input, or a virtual "
            + "device that nothing plays into; beckon doctor checks it"
    }
}
