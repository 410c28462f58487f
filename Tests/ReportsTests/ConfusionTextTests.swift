import Core
import Testing

@testable import Evaluation
@testable import Reports

/// The confusion matrix on a terminal.
struct ConfusionTextTests {
    private static func matrix(_ words: [String], _ pairs: [(Int, Int, Int)]) -> ConfusionMatrix {
        let labels = Labels(words + ["_unknown_", "_silence_"])
        let clips = pairs.flatMap { truth, heard, count in
            (0..<count).map { _ in
                let posteriors: [Float] = labels.names.indices.map { $0 == heard ? 1 : 0 }
                return ScoredClip(name: "", said: "", truth: truth, posteriors: posteriors)
            }
        }
        return ConfusionMatrix(clips, labels: labels)
    }

    @Test func `columns have the numbers of the rows`() {
        let text = Self.matrix(["yes", "no"], [(0, 0, 120), (0, 1, 3), (2, 0, 1)]).text()
        #expect(
            text == """
                SAID ↓ HEARD →   1   2   3
                1 yes          120   3   ·
                2 no             ·   ·   ·
                3 other speech   1   ·   ·

                """
        )
        #expect(Self.matrix(["yes"], []).text() == "")
    }

    @Test(arguments: [40, 80, 132])
    func `it fits, however many words there are`(_ room: Int) {
        for count in [10, 14, 40] {
            let words = (0..<count).map { "word\($0)" }
            let text = Self.matrix(words, (0..<count).map { ($0, $0, 1234) }).text(room: room)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.allSatisfy { columns(String($0)) < room }, "\(count)")
            // Ten words with the two others fit 80 columns in one block.
            if count == 10, room >= 80 { #expect(!text.contains("\n\n")) }
            #expect(text.split(whereSeparator: { $0 == " " || $0.isNewline }).count { $0 == "1234" } == count)
        }
    }
}
