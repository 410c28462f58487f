import Core
import Events
import System

@testable import Spotting

extension DetectionEvent {
    /// An event of "stop", or of another word or kind.
    static func said(_ name: String = "stop", kind: Detection.Kind = .word, threshold: Float? = nil) -> DetectionEvent {
        DetectionEvent(
            Detection(
                kind: kind,
                index: 0,
                confidence: 0.95,
                start: 1,
                end: 1.4,
                time: 1.5,
                threshold: threshold ?? 0,
                mode: threshold == nil ? nil : .command
            ),
            sequence: 7,
            name: name,
            date: .now,
            device: "hw:0",
            sound: WordLevel(level: -31.24, signalToNoise: 18)
        )
    }
}
