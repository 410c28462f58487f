public import Core
public import Evaluation

/// Proposed thresholds, and two runs side by side, as tables.
extension TextTable {
    /// The thresholds that reach a target, with 95 % intervals.
    public init(_ proposals: [ThresholdProposal]) {
        self.init(["WORD", "IN USE", "PROPOSED", "FOUND %", "95 %", "PRECISION %", "95 %", "FALSE/H", "95 %"])
        for proposal in proposals {
            add([
                proposal.word, numberText(proposal.current, 3), proposal.threshold.map { shortest($0) } ?? "–",
                perCentText(proposal.recall), Self.perCent(proposal.recallInterval), perCentText(proposal.precision),
                Self.perCent(proposal.precisionInterval), numberText(proposal.falseAcceptsPerHour, 1),
                proposal.falseAcceptsPerHourInterval.map { "\(decimal($0.lower, 1))–\(decimal($0.upper, 1))" } ?? "–",
            ])
        }
    }

    /// Two runs on the same clips.
    public init(_ comparison: RunComparison) {
        self.init(["SAID", "CLIPS", "FIRST %", "SECOND %", "ONLY FIRST", "ONLY SECOND", "P", "DIFFERENCE %", "95 %"])
        for row in [comparison.all] + comparison.words {
            func share(_ count: Int) -> String { perCentText(row.clips > 0 ? Double(count) / Double(row.clips) : nil) }
            add([
                row.said.map { Labels.spoken($0) } ?? "all", "\(row.clips)", share(row.first), share(row.second),
                "\(row.onlyFirst)", "\(row.onlySecond)", row.p < 0.001 ? "<0.001" : decimal(row.p, 3),
                Self.signed(row.difference),
                row.interval.map { "\(Self.signed($0.lower)) to \(Self.signed($0.upper))" } ?? "–",
            ])
        }
    }

    private static func perCent(_ interval: Interval?) -> String {
        interval.map { "\(decimal($0.lower * 100, 1))–\(decimal($0.upper * 100, 1))" } ?? "–"
    }

    private static func signed(_ share: Double) -> String { (share > 0 ? "+" : "") + decimal(share * 100, 1) }
}
