import Core

@testable import Spotting

/// A trace of scores drawn as text, one character per hop, so that a gate test is easy to read.
///
/// A capital letter is its word at 0.95, a small letter at 0.6, `p` up at 0.4, and `b` up beside a higher other speech; `.` is silence, `?`
/// other speech. A second line of the same length
/// draws the activity: `#` sound, `.` quiet. Without it, every hop but `.` has sound. A third line draws the levels, digits in steps of
/// 6 dB.
struct ScoreTrace {
    static let words = ["up", "stop", "left", "right"]
    static let labels = words + ["_unknown_", "_silence_"]
    static let unknown = 4
    static let silence = 5

    /// A handler of these labels, with hops of 100 ms.
    static func handler(
        _ gate: GateSettings,
        threshold: Float = 0.8,
        phrases: [Phrase] = [],
        sessions: [WakeSession] = []
    ) -> PosteriorHandler {
        PosteriorHandler(
            PosteriorFusion(modelLabels: labels.count, labels: labels.count, wordLabels: []),
            silence: silence,
            hopSeconds: 0.1,
            gate: gate,
            thresholds: Thresholds(labels: labels, defaults: labels.map { _ in threshold }),
            phrases: phrases,
            sessions: sessions
        )
    }

    let hops: [(scores: [Float], activity: ActivityHistory)]

    init(_ said: String, sound: String? = nil, levels: String? = nil) {
        var history = ActivityHistory(stepSeconds: 0.1)
        var loudness = LevelHistory()
        var digits = levels?.makeIterator()
        var hops: [(scores: [Float], activity: ActivityHistory)] = []
        for (character, sounds) in zip(said, sound ?? String(said.map { $0 == "." ? "." : "#" })) {
            history.append(logits: [sounds == "#" ? 1 : -1])
            if let digit = digits?.next()?.wholeNumberValue {
                loudness.add(LevelContrastTests.hop(decibels: 6 * Float(digit) - 60).span)
                history.contrast = loudness.contrast(.taughtWord)
                history.confirmedContrast = loudness.contrast(.confirmedWord)
            }
            hops.append((Self.scores(character), history))
        }
        self.hops = hops
    }

    private static func scores(_ character: Character) -> [Float] {
        var scores = [Float](repeating: 0.01, count: labels.count)
        switch character {
        case ".": scores[silence] = 0.95
        case "?": scores[unknown] = 0.95
        case "U": scores[0] = 0.95
        case "u": (scores[0], scores[unknown]) = (0.6, 0.36)
        case "p": (scores[0], scores[silence]) = (0.4, 0.1)
        case "b": (scores[0], scores[unknown], scores[silence]) = (0.5, 0.55, 0)
        case "S": scores[1] = 0.95
        case "s": (scores[1], scores[unknown]) = (0.6, 0.36)
        case "L": scores[2] = 0.95
        case "R": scores[3] = 0.95
        default: break
        }
        return scores
    }

    /// The words that fire, each with the hop (from 0) at which it fires, `stop@6`, or `stop@end` where the audio ends.
    ///
    /// - Parameters:
    ///   - looksAhead: whether the gate also gets the scores of the next hop, as in the detector.
    ///   - flushAt: hop before which the gate is flushed.
    ///   - alone: the levels of "up" where it is said alone.
    func fired(
        _ settings: GateSettings = GateSettings(),
        looksAhead: Bool = false,
        flushAt: Int? = nil,
        alone: Gate.AloneLevels? = nil
    ) -> String {
        let thresholds = Thresholds(labels: Self.labels, defaults: Self.labels.map { _ in 0.8 })
        var gate = Gate(settings: settings, thresholds: thresholds, silence: Self.silence, hopSeconds: 0.1)
        if let alone { gate.alone = [alone] }
        var fired: [String] = []
        for (index, hop) in hops.enumerated() {
            if index == flushAt { gate.flush() }
            var detection = gate.step(hop.scores, activity: hop.activity)
            let isAhead = settings.lookaheadQuiet()?.contains(hop.activity.quietSeconds) ?? false
            if looksAhead, detection == nil, index + 1 < hops.count, isAhead {
                detection = gate.lookAhead(hops[index + 1].scores, activity: hop.activity)
            }
            if let detection { fired.append("\(Self.labels[detection.index])@\(index)") }
        }
        if let last = hops.last, let detection = gate.finish(activity: last.activity) {
            fired.append("\(Self.labels[detection.index])@end")
        }
        return fired.joined(separator: " ")
    }
}

extension Thresholds {
    /// - Parameter defaults: threshold of each label that is not special; 0.8 for missing ones.
    init(labels: [String], defaults: [Float]) {
        let values = labels.indices.map { index -> Float? in
            if Labels.isSpecial(labels[index]) { return nil }
            return defaults.indices.contains(index) ? defaults[index] : 0.8
        }
        self.init(labels: labels, values: values)
    }
}
