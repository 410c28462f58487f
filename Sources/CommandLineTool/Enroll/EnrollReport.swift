private import Core
import Enrollment

/// The report on a taught word.
struct EnrollReport {
    let word: WordStore.Word
    /// Nil if the model has no negative set.
    let calibration: WordCalibration?
    let path: String

    /// As text.
    var text: String {
        let count = word.takes.count
        let kept = word.takes.contains { !$0.audio.isEmpty }
        var lines = ["'\(printable(word.name))' is taught, from \(count) \(count == 1 ? "take" : "takes")."]
        if let calibration {
            lines += ["", "  THRESHOLD   MISSED   FALSE ACCEPTS PER HOUR OF TALK"]
            lines.append("                       said alone   anywhere")
            for rates in calibration.rates {
                let mark = rates.threshold == calibration.suggested.threshold ? "*" : " "
                lines.append(
                    "  \(mark) \(pad(decimal(Double(rates.threshold), 2), 8)) \(left(share(rates.missed), 6))   "
                        + "\(left(perHour(rates.command), 10))   \(left(perHour(rates.spot), 8))"
                )
            }
            lines += ["  * is in use. Estimated from the takes and an hour of other people's talk.", ""]
            lines += Self.neighbours(calibration).map { "  " + $0 }
        }
        if count < 3 { lines.append("  Three to five takes give better results: --more adds some.") }
        lines.append(
            "  Stored in \(printable(path))"
                + (kept ? ", with the recordings (--no-audio omits them)." : ", without the recordings.")
        )
        lines.append("  A running service loads it by itself. Try it: beckon listen")
        return lines.map { $0 + "\n" }.joined()
    }

    private static func neighbours(_ calibration: WordCalibration) -> [String] {
        [(calibration.nearestBuiltIn, "the built-in words"), (calibration.nearestOwn, "your other words")].compactMap {
            near,
            kind in
            guard let near else { return nil }
            let name = "'\(printable(near.name))'"
            guard near.taken > 0 else { return "None of \(kind) is mistaken for it; \(name) is the nearest." }
            return "Caution: of \(kind), \(name) is mistaken for it \(share(near.taken)) of the time."
        }
    }

    /// As JSON: one object on one line.
    var json: String {
        var object: JSON = [
            "word": .string(word.name), "takes": .number(word.takes.count),
            "threshold": .number(word.threshold, places: 3), "boundary": .number(word.boundary, places: 4),
        ]
        if let calibration {
            object.append([
                "rates": .array(calibration.rates.map(Self.json)),
                "nearestBuiltIn": Self.json(calibration.nearestBuiltIn),
                "nearestOwn": Self.json(calibration.nearestOwn),
            ])
        }
        object.append(["file": .string(path)])
        return object.description
    }

    private static func json(_ rates: WordCalibration.Rates) -> JSON {
        [
            "threshold": .number(rates.threshold, places: 3), "missed": .number(rates.missed, places: 4),
            "falseAcceptsPerHour": [
                "command": .number(rates.command, places: 4), "spot": .number(rates.spot, places: 4),
            ],
        ]
    }

    private static func json(_ near: WordCalibration.Neighbour?) -> JSON {
        guard let near else { return .null }
        return [
            "word": .string(near.name), "likeness": .number(near.similarity, places: 3),
            "taken": .number(near.taken, places: 3),
        ]
    }
}

/// A share (0…1) in percent. Below 0.5 % the estimate is too rough for a number.
private func share(_ share: Double) -> String {
    share < 0.005 ? "< 1 %" : "\(decimal(share * 100, 0)) %"
}

/// A rate per hour as text, at least 0.01.
private func perHour(_ rate: Double) -> String { rate < 0.01 ? "< 0.01" : decimal(rate, rate < 0.1 ? 2 : 1) }
