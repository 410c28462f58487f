import Core
import Events
import Spotting
import System

extension DetectionEvent {
    /// An event of "stop", or of another word or kind.
    static func said(_ name: String = "stop", kind: Detection.Kind = .word, threshold: Float? = nil) -> DetectionEvent {
        DetectionEvent(
            sequence: 7,
            kind: kind,
            name: name,
            confidence: 0.95,
            start: 1,
            end: 1.4,
            time: 1.5,
            date: .now,
            device: "hw:0",
            threshold: threshold,
            mode: threshold == nil ? nil : .command,
            sound: WordLevel(level: -31.24, signalToNoise: 18)
        )
    }
}
