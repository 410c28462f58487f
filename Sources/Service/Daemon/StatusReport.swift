import Actions
import Capture
import Control
import Core
import Events
import JSON
import Network
import Spotting
import System

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
            "changes": .number(changes), "hopsMissedByChanges": .number(hopsMissedByChanges),
        ])
    }
}

extension ThresholdChoices {
    /// What applies to all words, as a line for the log.
    var text: String {
        switch all {
        case .sensitivity(let sensitivity): "sensitivity: \(sensitivity.rawValue)"
        case .confidence(let threshold): "threshold of all words: \(threshold)"
        }
    }
}

extension CaptureStatus {
    /// Why nothing is heard; nil while all is well.
    var trouble: String? {
        switch state {
        case .running, .recovering, .stopped: nil
        case .waiting: "waiting for it"
        case .lost: "lost; waiting for it"
        case .muted: "muted"
        }
    }
}

extension ServiceStatus.Input {
    init(_ capture: CaptureStatus) {
        self.init(state: "\(capture.state)")
        func date(_ time: Instant) -> Timestamp { .now.adding(seconds: -(Clock.now - time).seconds) }
        (since, device) = (date(capture.since), capture.device)
        if !capture.problem.isEmpty, capture.state == .waiting || capture.state == .lost { problem = capture.problem }
        (rate, channels) = (capture.format?.rate, capture.format?.channels)
        let measured: JSON = [
            "realTime": .bool(capture.isRealTime),
            "levelDecibels": .number(decibels(amplitude: capture.level), places: 1),
            "peakDecibels": .number(decibels(amplitude: capture.peak), places: 1),
            "gaps": .number(capture.counts.gaps), "overruns": .number(capture.counts.overruns),
            "reconnects": .number(capture.counts.reconnects), "frames": .number(capture.frames),
        ]
        counts = measured.members
        channelsCancel = capture.channelsCancel
        if capture.state == .running { digitalSilenceSince = capture.zeroSince.map(date) }
    }
}

extension ClipSaver.Counts {
    var json: JSON { ["saved": .number(saved), "failed": .number(failed), "dropped": .number(dropped)] }
}

extension LineServer.Counts {
    /// The counts that tell what a client missed.
    var json: JSON {
        [
            "accepted": .number(accepted), "closed": .number(closed), "slow": .number(slow),
            "protocolViolations": .number(protocolViolations), "refused": .number(refused),
            "eventsDropped": .number(overflowed),
        ]
    }
}
