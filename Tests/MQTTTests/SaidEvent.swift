import Core
import Events
import Spotting

extension DetectionEvent {
    /// An event of "stop", or of another word or kind.
    static func said(_ name: String = "stop", kind: Detection.Kind = .word) -> DetectionEvent {
        DetectionEvent(
            sequence: 7,
            kind: kind,
            name: name,
            confidence: 0.95,
            start: 1,
            end: 1.4,
            time: 1.5,
            date: .now,
            device: "hw:0"
        )
    }
}
