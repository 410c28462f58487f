import Core
import Evaluation
import JSON

/// Proposed thresholds as a configuration with comments.
struct ThresholdConfiguration {
    let proposals: [ThresholdProposal]
    let mode: DetectionMode
    /// What was asked for, as it was written.
    let target: String

    var text: String {
        """
        // Thresholds that beckon evaluate proposes, for \(target). Each word: how many were found, and how often it was found
        // where it was not said, with 95 % intervals.
        {
            mode: \(JSON.string(mode.rawValue)),
            words: {
        \(proposals.map(Self.lines).joined())    },
        }

        """
    }

    private static func lines(_ proposal: ThresholdProposal) -> String {
        let name = printable(proposal.word)
        guard let threshold = proposal.threshold, let recall = proposal.recall else {
            let why = proposal.said == 0 ? "was not said" : "reaches it at no threshold"
            return "        // \(name) \(why), and keeps its own.\n"
        }
        func interval(_ interval: Interval?, _ factor: Double) -> String {
            interval.map { " (\(decimal($0.lower * factor, 1)) to \(decimal($0.upper * factor, 1)))" } ?? ""
        }
        let rate = proposal.falseAcceptsPerHour.map {
            ", \(decimal($0, 1)) an hour\(interval(proposal.falseAcceptsPerHourInterval, 1))"
        }
        return """
                    // \(decimal(recall * 100, 1)) %\(interval(proposal.recallInterval, 100)) of \(proposal.said)\(rate ?? "").
                    \(JSON.string(proposal.word)): { threshold: \(shortest(threshold)) },

            """
    }
}

extension ThresholdTarget {
    /// As the command line has it: `0.5/h`; nil for anything else.
    init?(perHour text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, ["h", "hour"].contains(parts[1]), let rate = Double(decimal: parts[0]), rate >= 0,
            rate <= 3600
        else { return nil }
        self = .falseAcceptsPerHour(rate)
    }

    /// A share of 0.5 to 1, such as `0.99` or `99%`; nil for anything else.
    init?(precision text: String) {
        let share =
            text.hasSuffix("%") ? Double(decimal: String(text.dropLast())).map { $0 / 100 } : Double(decimal: text)
        guard let share, share >= 0.5, share <= 1 else { return nil }
        self = .precision(share)
    }
}
