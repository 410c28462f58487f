private import Core

/// The estimates in plain words.
extension WordCalibration {
    /// Share of other people's utterances that are missed from which the text warns, 0…1.
    private static let manyMissed = 0.15

    /// What they mean for the one who taught the word, and for others: a sentence each; none if the word has no estimates.
    public var meaning: [String] {
        guard let rates = rates(.balanced, .command), let spot = self.rates(.balanced, .spot) else { return [] }
        var caution: [String] = []
        if rates.missedOfOthers > Self.manyMissed {
            caution.append(
                "Caution: of other people only about \(decimal(100 * (1 - rates.missedOfOthers), 0)) % are expected to be found; teach it with "
                    + "more takes, by several people."
            )
        }
        return caution + [
            "Said as in the takes, it is \(Self.times(rates.missed)); said by other people, it is "
                + "\(Self.times(rates.missedOfOthers)).",
            "Other people's talk is taken for it about \(Self.often(rates.command)) if only words said alone count (mode "
                + "command, as beckon listen has it), and about \(Self.often(spot.spot)) if words count anywhere (mode spot).",
        ]
    }

    /// What there is to say of a name that is not spelled in English as the takes sound; empty if there is nothing.
    public func spellingRemark(_ name: String) -> [String] {
        guard textAgreement == 0 else { return [] }
        return [
            "It does not sound as '\(printable(name))' is spelled in English. Under a name that is spelled as it is said ('hey house'), it "
                + "would be found more often when other people say it."
        ]
    }

    /// The nearest of the model's words and of the user's: a sentence for each that there is.
    public var neighbours: [String] {
        [(nearestBuiltIn, "the model's words"), (nearestOwn, "your other words")].compactMap { near, kind in
            guard let near else { return nil }
            let name = "'\(printable(near.name))'"
            guard near.taken > 0 else { return "None of \(kind) is mistaken for it; \(name) is the nearest." }
            // Below 0.5 % the estimate is too rough for a number.
            let share = near.taken < 0.005 ? "< 1 %" : "\(decimal(near.taken * 100, 0)) %"
            return "Caution: of \(kind), \(name) is mistaken for it \(share) of the time."
        }
    }

    /// How often the word is missed.
    private static func times(_ missed: Double) -> String {
        if missed < 0.01 { return "hardly ever missed" }
        return missed > 0.5
            ? "missed more often than found; teach it again with clearer takes"
            : "missed about once in \(counted(Int((1 / missed).rounded()), "time"))"
    }

    /// How often something happens, in hours of talk.
    private static func often(_ perHour: Double) -> String {
        if perHour < 0.01 { return "once in 100 hours of talk or less" }
        if perHour < 0.67 { return "once in \(counted(Int((1 / perHour).rounded()), "hour")) of talk" }
        return perHour < 1.5 ? "once in an hour of talk" : "\(Int(perHour.rounded())) times in an hour of talk"
    }
}
