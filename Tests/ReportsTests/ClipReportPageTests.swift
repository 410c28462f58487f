import Core
import TestSupport
import Testing

@testable import Evaluation
@testable import Reports

/// The page of a `ClipReport`: the figures first, and tables that fit the page.
struct ClipReportPageTests {
    private static func report() -> ClipReport {
        let words = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"]
        let labels = Labels(words + ["_unknown_", "_silence_"])
        let clips = (0..<120).map { number in
            let truth = number % 12
            var posteriors = [Float](repeating: 0, count: 12)
            // One of ten is taken for the next label.
            posteriors[number % 10 == 3 ? (truth + 1) % 12 : truth] = 1
            let said = truth < 10 ? words[truth] : truth == 10 ? "cat" : "silence"
            return ScoredClip(
                name: "\(said)/\(number)",
                said: said,
                truth: labels.label(ofFolder: said),
                posteriors: posteriors
            )
        }
        return ClipReport(clips, labels: labels, thresholds: words.map { _ in 0.7 } + [nil, nil])
    }

    @Test func `the accuracy stands on top, and no table of thresholds is stacked on a wide page`() throws {
        let html = ClipReportPage(Self.report(), name: "clips", model: "m").html
        let page = try Tree(html)
        #expect(page.texts("p").first?.hasPrefix("90.0 % of the clips are labelled right: words ") == true)
        let table = try #require(html.firstRange(of: "<table")?.lowerBound)
        #expect(table < (try #require(html.firstRange(of: "<figure")?.lowerBound)))
        #expect(page.texts("h3").suffix(2) == ["Recall (%)", "False accepts (%)"])
        let tables = page.all("table").compactMap { $0.attributes["class"] }.filter { $0 != "counts" }
        #expect(tables.count >= 6 && tables.allSatisfy { !$0.contains("stack-w") }, "\(tables)")
    }
}
