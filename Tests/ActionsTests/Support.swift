import Core
import Events
import Foundation
import Spotting
import System

@testable import Actions

extension DetectionEvent {
    /// "left" said from 12.4 to 12.9 s, decided on the first of March 2026 at half past twelve.
    static let sample = DetectionEvent(
        sequence: 7,
        kind: .word,
        name: "left",
        confidence: 0.9512,
        start: 12.4,
        end: 12.9,
        time: 13,
        date: Timestamp(nanoseconds: 1_772_368_205_250_000_000),
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

    /// Runs it and gives how it ended, and how long until all of its group was gone.
    func finish(stop: EventFD? = nil) throws -> (end: ProgramEnd, seconds: Double) {
        let begun = ContinuousClock.now
        var result: ProgramEnd?
        try run(stop: stop) { result = $0 }
        guard let result else { throw ActionError.program }
        return (result, begun.duration(to: .now) / .seconds(1))
    }
}

/// The processes of a group, by their numbers.
func members(ofGroup group: Int32) -> [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { Int32($0) }.filter { getpgid($0) == group }
}
