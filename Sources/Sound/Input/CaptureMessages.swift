import Capture
import Core
private import Glibc
import System

extension CaptureMachine.Change {
    /// The change as one line for the log.
    ///
    /// - Parameter status: gives the device's name, and the reason if it cannot be opened.
    func message(_ status: CaptureStatus) -> (level: LogLevel, text: String) {
        let device = status.device.isEmpty ? "the microphone" : status.device
        let seconds = "\(decimal(duration.seconds, 2)) s"
        let error = "\(call.function): \(SystemError.text(number))"
        switch kind {
        case .running:
            let format = status.format.map { ", \($0.rate) Hz, channels: \($0.channels)" } ?? ""
            guard duration > .zero else { return (.info, "listening to \(device)\(format)") }
            return (.notice, "listening to \(device) again after \(seconds)")
        case .overrun: return (.warning, "\(device): audio was lost, as the machine was too busy (\(error))")
        case .suspended: return (.info, "\(device): suspended")
        case .framesMissing: return (.warning, "\(device): \(seconds) of audio never came")
        case .lost: return (.warning, "\(device): lost (\(error)); waiting for it to come back")
        case .stalled: return (.warning, "\(device): open, but no audio comes; opening it again")
        case .tooFast, .unavailable:
            return (.error, "\(status.problem.isEmpty ? "\(device): \(error)" : status.problem)")
        case .stillUnavailable:
            let problem = "\(status.problem); beckon doctor finds out more"
            return (.warning, "still no microphone after \(seconds): \(problem)")
        case .muted: return (.info, "muted: the device is closed")
        case .unmuted: return (.info, "no longer muted")
        case .selectionChanged: return (.info, "another device or channel was selected")
        case .notRealTime:
            let reason = SystemError.text(number)
            return (
                .notice, "no real-time priority for capture (\(reason)); audio may be lost when the machine is busy"
            )
        }
    }
}

extension GapReport.Item {
    /// The same of a device with what a loudspeaker plays; nil for what concerns the microphone, too.
    func referenceMessage(_ status: CaptureStatus) -> (level: LogLevel, text: String)? {
        let (level, text) = message(status)
        guard case .change(let change) = self else { return (level, "echo reference: \(text)") }
        switch change.kind {
        case .muted, .unmuted, .selectionChanged, .notRealTime: return nil
        case .running, .suspended: return (level, "echo reference: \(text)")
        case .overrun, .framesMissing: return (level, "echo reference: \(text); its delay is found anew")
        case .lost, .stalled, .tooFast, .unavailable:
            return (.warning, "echo reference: \(text); until then no echo is removed")
        case .stillUnavailable:
            let missing = durationText(change.duration.seconds)
            return (.warning, "echo reference: still none after \(missing): \(status.problem); no echo is removed")
        }
    }

    /// The item as one line for the log.
    func message(_ status: CaptureStatus) -> (level: LogLevel, text: String) {
        switch self {
        case .change(let change): return change.message(status)
        case .more(let gaps, let lost):
            let device = status.device.isEmpty ? "the microphone" : status.device
            let count = gaps == 1 ? "1 more gap" : "\(gaps) more gaps"
            return (.warning, "\(device): \(count), \(decimal(lost.seconds, 2)) s lost")
        }
    }
}
