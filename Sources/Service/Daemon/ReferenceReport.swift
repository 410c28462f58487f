import Capture
import JSON
import System

/// Tells clients of the control socket that the device with what a loudspeaker plays is lost, and that it is back.
///
/// A pure value. What is as before is not told.
struct ReferenceReport: Equatable, Sendable {
    private var isLost = false

    /// The event that is due; nil for none.
    ///
    /// - Parameters:
    ///   - status: of the device; nil where there is none.
    ///   - date: now.
    mutating func event(of status: CaptureStatus?, at date: Timestamp) -> JSON? {
        guard let status else {
            isLost = false
            return nil
        }
        switch status.state {
        case .running, .recovering:
            guard isLost else { return nil }
            isLost = false
        case .lost, .waiting:
            // Where it waits for the first time without a problem it is being opened.
            guard !isLost, status.state == .lost || !status.problem.isEmpty else { return nil }
            isLost = true
        case .muted, .stopped: return nil
        }
        var event: JSON = [
            "event": "echo-reference", "state": .string(isLost ? "lost" : "running"), "device": .string(status.device),
            "date": .string(date.text),
        ]
        if isLost, !status.problem.isEmpty { event.append(["problem": .string(status.problem)]) }
        return event
    }
}
