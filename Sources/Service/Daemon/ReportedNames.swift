import Audio
import Capture

extension CaptureMachine.State {
    /// In the status and in metrics.
    var name: String {
        switch self {
        case .waiting: "waiting"
        case .running: "running"
        case .recovering: "recovering"
        case .lost: "lost"
        case .muted: "muted"
        case .stopped: "stopped"
        }
    }
}

extension LostAudio.Cause {
    /// In the account of the audio.
    var name: String {
        switch self {
        case .overrun: "overrun"
        case .suspended: "suspended"
        case .missing: "missing"
        case .device: "device"
        case .muted: "muted"
        case .selection: "selection"
        case .incomplete: "incomplete"
        case .stale: "stale"
        case .late: "late"
        case .ringFull: "ringFull"
        case .settings: "settings"
        case .recording: "recording"
        }
    }
}
