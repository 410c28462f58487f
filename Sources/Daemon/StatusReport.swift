import Capture
import Core

extension DetectorStatus {
    /// Adds its members to an object.
    func describe(in status: inout JSON) {
        let mean = hops > 0 ? busy.milliseconds / Double(hops) : 0
        status.append([
            "hops": .number(hops),
            "hopMilliseconds": [
                "longest": .number(longestHop.milliseconds, places: 2), "mean": .number(mean, places: 2),
                "budget": .number(AudioFormat.hopDuration.milliseconds, places: 2),
            ],
            "lateHops": .number(lateHops), "droppedBlocks": .number(droppedBlocks),
        ])
    }
}

extension CaptureStatus {
    /// Adds its members to an object.
    func describe(in status: inout JSON) {
        status.append(["state": .string("\(state)"), "device": .string(device)])
        if !problem.isEmpty, state == .waiting || state == .lost { status.append(["problem": .string(problem)]) }
        if let format { status.append(["rate": .number(format.rate), "channels": .number(format.channels)]) }
        status.append([
            "realTime": .bool(isRealTime),
            "levelDecibels": .number(decibels(amplitude: level), places: 1),
            "peakDecibels": .number(decibels(amplitude: peak), places: 1),
            "gaps": .number(counts.gaps), "overruns": .number(counts.overruns),
            "reconnects": .number(counts.reconnects), "frames": .number(frames),
        ])
    }
}
