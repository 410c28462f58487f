private import Core
import Enrollment
private import JSON

/// The report on a taught word.
struct EnrollReport {
    let word: WordStore.Word
    /// Nil if the model has no negative set.
    let calibration: WordCalibration?
    let path: String
    /// How the word is tried, and who else finds it.
    let next: String
    /// How its name is said, if it was typed just now.
    var typing: String?
    /// What may be taken for it.
    var similar: [SimilarText] = []

    func text(columns: Int = Terminal.width) -> String {
        let count = word.takes.count
        let kept = word.takes.contains { !$0.audio.isEmpty }
        let name = word.sounds == nil ? "" : "its name and "
        var lines = typing.map { [$0] } ?? []
        lines += ["'\(printable(word.name))' is taught, from \(name)\(counted(count, "take")).", ""]
        if let calibration {
            lines += calibration.meaning
            if !calibration.meaning.isEmpty {
                lines.append(
                    "Takes by the people who will say it (--more) make it found more often; synthetic voices are recognized "
                        + "less than people."
                )
            }
            lines += ["", Self.table(calibration).text(columns: columns - 1)]
            lines += ["* is in use. Estimated from the takes and from other people's talk.", ""]
            lines += calibration.neighbours + calibration.spellingRemark(word.name)
        }
        lines += SimilarText.lines(similar)
        if count < 3, word.sounds == nil {
            lines.append("Three to five takes give better results: --more adds some.")
            if Self.mayBeTyped(word.name) {
                let name = ShellWord.quoted(printable(word.name))
                lines.append(
                    "If it sounds as it is spelled in English, its name helps as much: beckon enroll \(name) --typed."
                )
            }
        }
        lines.append(
            "Stored in \(printable(path))"
                + (kept ? ", with the recordings (--no-audio omits them)." : ", without the recordings.")
        )
        lines.append(next)
        return lines.map { $0.hasSuffix("\n") ? $0 : wrapped($0, columns: columns) + "\n" }.joined()
    }

    /// Whether a name is long enough to be found by its sounds, as far as its letters tell.
    private static func mayBeTyped(_ name: String) -> Bool {
        name.count > 4 && name.lowercased().allSatisfy { ("a"..."z").contains($0) || $0 == " " }
    }

    /// The estimates for each sensitivity and mode.
    private static func table(_ calibration: WordCalibration) -> TextTable {
        var table = TextTable(
            ["SENSITIVITY", "MODE", "THRESHOLD", "MISSED", "BY OTHERS", "WRONG PER HOUR"],
            names: [0, 1]
        )
        for sensitivity in Sensitivity.allCases {
            for mode in DetectionMode.allCases.reversed() {
                guard let rates = calibration.rates(sensitivity, mode) else { continue }
                let isInUse = sensitivity == .balanced
                table.add([
                    isInUse ? "\(sensitivity.rawValue) *" : sensitivity.rawValue, mode.rawValue,
                    decimal(Double(rates.threshold), 2), share(rates.missed), share(rates.missedOfOthers),
                    perHour(rates[mode]),
                ])
            }
        }
        return table
    }

    /// As JSON: one object on one line.
    var json: String {
        var object: JSON = [
            "word": .string(word.name), "takes": .number(word.takes.count), "sounds": word.soundsAsJSON,
            "threshold": .number(word.threshold, places: 3), "boundary": .number(word.boundary, places: 4),
        ]
        if let calibration {
            object.append([
                "rates": .array(
                    calibration.rates.map {
                        Self.json(
                            $0,
                            ["command": .number($0.command, places: 4), "spot": .number($0.spot, places: 4)]
                        )
                    }
                ),
                "sensitivities": Self.sensitivities(calibration),
                "nearestBuiltIn": Self.json(calibration.nearestBuiltIn),
                "nearestOwn": Self.json(calibration.nearestOwn),
                "textAgreement": calibration.textAgreement.map { .number($0, places: 3) } ?? .null,
            ])
        }
        object.append(["similar": .array(similar.map(\.json)), "file": .string(path)])
        return object.description
    }

    private static func json(_ rates: WordCalibration.Rates, _ falseAccepts: JSON) -> JSON {
        [
            "threshold": .number(rates.threshold, places: 3), "missed": .number(rates.missed, places: 4),
            "missedOfOthers": .number(rates.missedOfOthers, places: 4), "falseAcceptsPerHour": falseAccepts,
        ]
    }

    private static func sensitivities(_ calibration: WordCalibration) -> JSON {
        .object(
            Sensitivity.allCases.map { sensitivity in
                let modes = DetectionMode.allCases.compactMap { mode in
                    calibration.rates(sensitivity, mode).map { rates in
                        JSON.Member(mode.rawValue, json(rates, .number(rates[mode], places: 4)))
                    }
                }
                return JSON.Member(sensitivity.rawValue, .object(modes))
            }
        )
    }

    private static func json(_ near: WordCalibration.Neighbour?) -> JSON {
        guard let near else { return .null }
        return [
            "word": .string(near.name), "likeness": .number(near.similarity, places: 3),
            "taken": .number(near.taken, places: 3),
        ]
    }
}

extension WordCalibration.Rates {
    /// False accepts per hour in a mode.
    fileprivate subscript(mode: DetectionMode) -> Double { mode == .command ? command : spot }
}

/// A share (0…1) in percent. Below 0.5 % the estimate is too rough for a number.
private func share(_ share: Double) -> String {
    share < 0.005 ? "< 1 %" : "\(decimal(share * 100, 0)) %"
}

/// A rate per hour as text, at least 0.01.
private func perHour(_ rate: Double) -> String { rate < 0.01 ? "< 0.01" : decimal(rate, rate < 0.1 ? 2 : 1) }
