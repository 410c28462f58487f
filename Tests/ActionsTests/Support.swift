import Core
import Events
import Foundation
import JSON
import System

@testable import Actions
@testable import Spotting

extension DetectionEvent {
    /// "left", said from 12.4 to 12.9 s, decided on 1 March 2026 at about 12:30.
    static let sample = DetectionEvent(
        Detection(kind: .word, index: 0, confidence: 0.9512, start: 12.4, end: 12.9, time: 13),
        sequence: 7,
        name: "left",
        date: Timestamp(microseconds: 1_772_368_205_250_000),
        device: "hw:CARD=Mic"
    )
}

extension Actions.Program {
    init(
        _ arguments: [String],
        timeout: Double = 5,
        grace: Double = 0.05,
        environment: [String] = ["PATH=/usr/bin:/bin"]
    ) {
        self.init(
            arguments: arguments,
            directory: "/",
            environment: environment,
            input: Array(DetectionEvent.sample.json.line.utf8),
            timeout: timeout,
            grace: grace
        )
    }

    /// Runs the program. Returns how it ended, and the seconds until its whole group had ended.
    func finish(stop: EventFD? = nil) throws -> (end: ProgramEnd, seconds: Double) {
        let begun = ContinuousClock.now
        var result: ProgramEnd?
        try run(stop: stop) { result = $0 }
        guard let result else { throw ActionError.program }
        return (result, begun.duration(to: .now) / .seconds(1))
    }
}

/// The process numbers of a group.
func members(ofGroup group: Int32) -> [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { Int32($0) }.filter { getpgid($0) == group }
}
