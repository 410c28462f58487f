import CSndFile
import Core
import Foundation
import TestSupport
import Testing

/// The threshold of a taught word is the same number for the same mode, whoever shows it.
struct WordThresholdTests {
    private struct Listed: Decodable {
        let word: String
        let threshold: Double
        let thresholds: [String: Double]
    }

    private struct Inspected: Decodable { let thresholds: [String: Double] }

    @Test func `words and reports agree on it, and say the mode`() throws {
        let folder = try TestFolder()
        let takes = try [1, 0.7, 0.4].map { gain in
            let samples = try Voices.samples("Rear_Center").map { $0 * Float(gain) }
            return try folder.write("\(gain).wav", format: SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate: Voices.rate, samples)
        }
        let words = ["--words", folder.file("words")]
        #expect(try Program.beckon(["enroll", "rear center"] + words + ["--from"] + takes).status == 0)
        let list = try JSONDecoder().decode(
            Listed.self,
            from: Data(try Program.beckon(["words", "--json"] + words).output.utf8)
        )
        #expect(list.thresholds.keys.sorted() == ["command", "spot"])
        let table = try Program.beckon(["words"] + words).output
        let shown = try Program.beckon(["words", "rear center"] + words).output
        for (mode, threshold) in list.thresholds {
            let report = try Program.beckon(["inspect", "--json", "--mode", mode] + words + [Voices.path("Rear_Left")])
            let inspected = try JSONDecoder().decode(Inspected.self, from: Data(report.output.utf8))
            let used = try #require(inspected.thresholds["rear center"])
            #expect(abs(used - threshold) < 0.0006, "\(mode): \(used) \(threshold)")
            // A rounded threshold may be between two of fewer digits.
            let texts = [threshold - 0.0005, threshold + 0.0005].map { decimal($0, 2) }
            #expect(table.contains("IN \(mode.uppercased())") && texts.contains { table.contains($0) }, "\(table)")
            #expect(texts.contains { shown.contains("\($0) in mode \(mode)") }, "\(shown)")
        }
    }
}
