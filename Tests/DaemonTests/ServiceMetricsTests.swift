import Configuration
import Core
import Inference
import IntegrationInterface
import Metrics
import Spotting
import TestSupport
import Testing

@testable import Actions
@testable import Daemon

/// The service's counts as metrics, and where they come from.
struct ServiceMetricsTests {
    private static func settings(_ text: String = "{phrases: [{phrase: 'go left'}], words: {up: {enabled: false}}}")
        throws
        -> ServiceSettings
    {
        let vocabulary = Vocabulary(try Material.model())
        let known = vocabulary.labels.filter { !$0.hasPrefix("_") }
        return try ServiceSettings(
            ParsedConfiguration(text: text, file: "f").validated(by: KnownWords(known)).configuration,
            vocabulary
        )
    }

    private static func lines(_ values: ServiceMetrics) -> [String] {
        MetricsFormat.prometheus.text(values.families).split(separator: "\n").map(String.init)
    }

    @Test func `every word that may fire has its count, from 0 on, and counts of forgotten words stay`() throws {
        var values = ServiceMetrics(try Self.settings())
        values.detector = DetectorRecord().status
        values.events.byName = ["left": 3, "go left": 1, "gone": 2]
        values.events.suppressedByName = ["left": 1]
        let lines = Self.lines(values)
        for line in [
            "beckon_detections_total{word=\"left\"} 3", "beckon_detections_total{word=\"go left\"} 1",
            "beckon_detections_total{word=\"gone\"} 2", "beckon_detections_total{word=\"yes\"} 0",
            "beckon_suppressed_total{word=\"left\",reason=\"cooldown\"} 1",
            "beckon_suppressed_total{word=\"yes\",reason=\"cooldown\"} 0", "beckon_ready 1",
            "beckon_build_info{version=\"\(version)\",model=\"\(try Material.model().name)\"} 1",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(!lines.contains { $0.contains("word=\"up\"") })
        #expect(lines.filter { $0.hasPrefix("beckon_threshold_ratio{") }.count == 9)
    }

    @Test func `names are in base units and end as their kind wants`() throws {
        var values = ServiceMetrics(try Self.settings())
        values.detector = DetectorRecord().status
        values.actions = ActionRunner.Counts()
        values.clips = ClipSaver.Counts()
        values.droppedLines = DroppedLines(log: 2)
        for family in values.families {
            #expect(family.name.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "_" }, "\(family.name)")
            #expect(family.name.hasPrefix("beckon_") || family.name.hasPrefix("process_"), "\(family.name)")
            #expect(!family.name.hasSuffix("_total") && !family.name.contains("milli"), "\(family.name)")
            #expect(
                family.help.hasSuffix(".") && family.unit.map { family.name.hasSuffix("_" + $0) } ?? true,
                "\(family.name)"
            )
        }
        let names = values.families.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test func `a hop is counted in the bucket of its time`() {
        let record = DetectorRecord()
        record.prepare(labels: 1)
        let scores: [Float] = [0.5]
        let begin = Instant(nanoseconds: 1_000_000)
        for microseconds in [10, 250, 251, 3000, 250_000, 250_001, 9_000_000] {
            record.note(scores.span, began: begin, ended: begin + .microseconds(microseconds))
        }
        let status = record.status
        #expect(status.hopCounts == [2, 1, 0, 0, 1, 0, 0, 0, 0, 1, 2])
        #expect(status.hopCounts.reduce(0, +) == status.hops)
        #expect(status.newestHop == begin + .microseconds(9_000_000))
        #expect(DetectorRecord().status.newestHop == nil)
    }

    @Test func `looks of confirming networks are counted, with the slowest hop`() throws {
        let record = DetectorRecord()
        record.note(looks: 0, refused: 0, took: .milliseconds(9))
        #expect(record.status.looks == 0 && record.status.longestLook == .zero, "a hop without a look")
        record.note(looks: 1, refused: 0, took: .milliseconds(12))
        record.note(looks: 1, refused: 0, took: .milliseconds(40))
        record.note(looks: 3, refused: 2, took: .milliseconds(8))
        #expect(record.status.looks == 3 && record.status.refusedLooks == 2)
        #expect(record.status.longestLook == .milliseconds(12))
        var values = ServiceMetrics(try Self.settings())
        values.detector = record.status
        let lines = Self.lines(values)
        for line in [
            "beckon_looks_total 3", "beckon_refused_looks_total 2", "beckon_longest_look_seconds 0.012",
            "beckon_confirm_state{state=\"on\"} 1", "beckon_confirm_state{state=\"off\"} 0",
            "beckon_confirm_state{state=\"none\"} 0",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        for (model, confirms, state) in [
            (Checkout.confirmingModel, true, "on"), (Checkout.confirmingModel, false, "off"),
            (Checkout.path + "/Models/flatspeech", true, "none"),
        ] {
            let vocabulary = Vocabulary(try Model(folder: model, confirms: confirms))
            let settings = try ServiceSettings(Configuration(), vocabulary)
            #expect(Self.lines(ServiceMetrics(settings)).contains("beckon_confirm_state{state=\"\(state)\"} 1"))
        }
    }

    @Test func `without a detector there are only the program's own`() throws {
        let names = ServiceMetrics(try Self.settings()).families.map(\.name)
        #expect(names.prefix(3) == ["beckon_build", "beckon_ready", "beckon_confirm_state"])
        #expect(names.dropFirst(3).allSatisfy { $0.hasPrefix("process_") } && names.count == 6)
    }
}
