import Spotting

/// A score trace written as a picture, so that a gate test reads as what was heard.
///
/// One character a hop: a letter is that word at 0.95, its small form at 0.6; `.` is silence, `?` is other speech. A second
/// line of the same length says what the sound tracker heard: `#` sound, `.` quiet; left out, every word or `?` sounds.
struct Trace {
    static let words = ["up", "stop", "left", "right"]
    static let labels = words + ["_unknown_", "_silence_"]
    static let unknown = 4
    static let silence = 5

    let hops: [(scores: [Float], quietSeconds: Double)]

    init(_ heard: String, sound: String? = nil) {
        var quiet = 10.0
        var hops: [(scores: [Float], quietSeconds: Double)] = []
        for (character, sounds) in zip(heard, sound ?? String(heard.map { $0 == "." ? "." : "#" })) {
            quiet = sounds == "#" ? 0 : quiet + 0.1
            hops.append((Self.scores(character), quiet))
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
        case "S": scores[1] = 0.95
        case "s": (scores[1], scores[unknown]) = (0.6, 0.36)
        case "L": scores[2] = 0.95
        case "R": scores[3] = 0.95
        default: break
        }
        return scores
    }

    /// The words that are let through where the hop after each is foreseen as it comes.
    func firedAhead(_ settings: GateSettings) -> String {
        let thresholds = Thresholds(labels: Self.labels, defaults: Self.labels.map { _ in 0.8 })
        var gate = Gate(settings: settings, thresholds: thresholds, silence: Self.silence, hopSeconds: 0.1)
        var fired: [String] = []
        for (index, hop) in hops.enumerated() {
            var decision = gate.step(hop.scores, quietSeconds: hop.quietSeconds)
            if decision == nil, index + 1 < hops.count, settings.foreseenQuiet?.contains(hop.quietSeconds) ?? false {
                decision = gate.foresee(hops[index + 1].scores)
            }
            if let decision { fired.append("\(Self.labels[decision.label])@\(index)") }
        }
        return fired.joined(separator: " ")
    }

    /// The words the gate lets through, each with the hop (from 0) that decided it: `stop@6`.
    func fired(_ settings: GateSettings = GateSettings(), flushAt: Int? = nil) -> String {
        let thresholds = Thresholds(labels: Self.labels, defaults: Self.labels.map { _ in 0.8 })
        var gate = Gate(settings: settings, thresholds: thresholds, silence: Self.silence, hopSeconds: 0.1)
        var fired: [String] = []
        for (index, hop) in hops.enumerated() {
            if index == flushAt { gate.flush() }
            if let decision = gate.step(hop.scores, quietSeconds: hop.quietSeconds) {
                fired.append("\(Self.labels[decision.label])@\(index)")
            }
        }
        return fired.joined(separator: " ")
    }
}
