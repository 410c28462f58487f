private import Core
import Enrollment

/// What is told of a word that was just taught.
struct EnrollReport {
    let word: WordStore.Word
    /// Nil where there is nothing to compare with.
    let standing: WordCalibration?
    let path: String

    /// For people.
    var text: String {
        let count = word.takes.count
        let kept = word.takes.contains { !$0.audio.isEmpty }
        var lines = ["'\(printable(word.name))' is taught, from \(count) \(count == 1 ? "take" : "takes")."]
        if let standing {
            lines += ["", "  THRESHOLD   MISSED   FALSE ACCEPTS AN HOUR OF TALK"]
            lines.append("                       said alone   anywhere")
            for rates in standing.rates {
                let mark = rates.threshold == standing.suggested.threshold ? "*" : " "
                lines.append(
                    "  \(mark) \(pad(decimal(Double(rates.threshold), 2), 8)) \(left(share(rates.missed), 6))   "
                        + "\(left(often(rates.command), 10))   \(left(often(rates.spot), 8))"
                )
            }
            lines += ["  * is in use; estimated from the takes and an hour of other people's talk.", ""]
            lines += Self.neighbours(standing).map { "  " + $0 }
        }
        if count < 3 { lines.append("  With three to five takes it is heard better: --more adds some.") }
        lines.append(
            "  Kept in \(printable(path))"
                + (kept ? ", with the recordings (--no-audio leaves them out)." : ", without the recordings.")
        )
        lines.append("  A service that listens takes it up by itself. Try it: beckon listen")
        return lines.map { $0 + "\n" }.joined()
    }

    private static func neighbours(_ standing: WordCalibration) -> [String] {
        [(standing.nearestBuiltIn, "built-in words"), (standing.nearestOwn, "your other words")].compactMap {
            near,
            kind in
            guard let near else { return nil }
            let name = "'\(printable(near.name))'"
            guard near.taken > 0 else { return "It stands apart from the \(kind); \(name) is nearest." }
            return "Beware: of the \(kind), \(name) is taken for it \(share(near.taken)) of the time."
        }
    }

    /// One object on one line.
    var json: String {
        var object: JSON = [
            "word": .string(word.name), "takes": .number(word.takes.count),
            "threshold": .number(word.threshold, places: 3), "boundary": .number(word.boundary, places: 4),
        ]
        if let standing {
            object.append([
                "rates": .array(standing.rates.map(Self.json)),
                "nearestBuiltIn": Self.json(standing.nearestBuiltIn), "nearestOwn": Self.json(standing.nearestOwn),
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
            "word": .string(near.name), "likeness": .number(near.likeness, places: 3),
            "taken": .number(near.taken, places: 3),
        ]
    }
}

/// A share in percent; what is very small is not told more exactly than it is known.
private func share(_ share: Double) -> String {
    share < 0.005 ? "< 1 %" : "\(decimal(share * 100, 0)) %"
}

/// Times an hour.
private func often(_ rate: Double) -> String { rate < 0.01 ? "< 0.01" : decimal(rate, rate < 0.1 ? 2 : 1) }
