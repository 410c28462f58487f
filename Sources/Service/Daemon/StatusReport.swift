import Actions
import Capture
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

    /// Adds its members to an object: the sensitivity of all words, null where a threshold in numbers applies to them,
    /// and that of each word that has one of its own.
    func describe(in status: inout JSON) {
        func name(_ choice: ThresholdChoice) -> JSON {
            if case .sensitivity(let sensitivity) = choice { .string(sensitivity.rawValue) } else { .null }
        }
        status.append(["sensitivity": name(all)])
        let own = words.filter { !disabled.contains($0.key) && name($0.value) != .null }
        guard !own.isEmpty else { return }
        let members = own.sorted { $0.key < $1.key }.map { JSON.Member($0.key, name($0.value)) }
        status.append(["sensitivities": .object(members)])
    }
}

extension WakeSession {
    /// Its words with their thresholds, null for one that never fires.
    func json(labels: [String]) -> JSON {
        let words = zip(words, thresholds).map { label, threshold in
            JSON.Member(
                labels.indices.contains(label) ? labels[label] : "",
                threshold.map { .number($0, places: 3) } ?? .null
            )
        }
        return [
            "wake": .string(name), "seconds": .number(seconds, places: 1), "mode": .string(mode.rawValue),
            "thresholds": .object(words),
        ]
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

    /// Adds its members to an object.
    func describe(in status: inout JSON) {
        let began = Timestamp.now.adding(seconds: -(Clock.now - since).seconds)
        status.append(["state": .string("\(state)"), "since": .string(began.text), "device": .string(device)])
        if !problem.isEmpty, state == .waiting || state == .lost { status.append(["problem": .string(problem)]) }
        if let format { status.append(["rate": .number(format.rate), "channels": .number(format.channels)]) }
        status.append([
            "realTime": .bool(isRealTime),
            "levelDecibels": .number(decibels(amplitude: level), places: 1),
            "peakDecibels": .number(decibels(amplitude: peak), places: 1),
            "gaps": .number(counts.gaps), "overruns": .number(counts.overruns),
            "reconnects": .number(counts.reconnects), "frames": .number(frames),
            "channelsCancel": .bool(channelsCancel),
        ])
        if let zeroSince, state == .running {
            let began = Timestamp.now.adding(seconds: -(Clock.now - zeroSince).seconds)
            status.append(["digitalSilenceSince": .string(began.text)])
        }
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
