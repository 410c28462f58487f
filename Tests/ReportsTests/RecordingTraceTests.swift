import Core
import Diagnostics
import Foundation
import Inference
import Spotting
import TestSupport
import Testing

@testable import Reports

/// The trace of a recording, and the report made from it.
struct RecordingTraceTests {
    private static func vocabulary(confirms: Bool = true) throws -> Vocabulary {
        Vocabulary(try Model(folder: Checkout.model, confirms: confirms))
    }

    private static func settings(_ name: String, _ vocabulary: Vocabulary) -> RecordingTrace.Settings {
        RecordingTrace.Settings(file: Voices.path(name), DetectorSettings(vocabulary))
    }

    @Test func `the beginning of a long file is shown, and a line says so`() throws {
        let vocabulary = try Self.vocabulary()
        var settings = Self.settings("Rear_Right", vocabulary)
        #expect(settings.longest == 300)
        settings.longest = 0.8
        let trace = try RecordingTrace(settings)
        // Activity steps of 25 ms: quiet before the word, then sound.
        let sounds = trace.hops.flatMap(\.sounds)
        #expect(sounds.count == 32 && sounds[0] == false && sounds.contains(true))
        #expect(trace.isCut && trace.to == 0.8 && trace.hops.count == 8 && trace.samples.count == 12_800)
        // Eight columns of 40 bands per hop; statistics of 0.8 s at 48 kHz.
        #expect(trace.columns.count == 8 * 8 * 40 && trace.statistics.map(\.count) == [38_400])
        let report = InspectReport(trace)
        #expect(report.note == "the report shows 0.8 s from 0:00.00; choose another part with --from and --to")
        #expect(report.clip == nil)
    }

    @Test(arguments: [DetectionMode.spot, .command])
    func `the words are those of the file detector`(_ mode: DetectionMode) throws {
        let vocabulary = try Self.vocabulary()
        var settings = Self.settings("Side_Left", vocabulary)
        settings.detector.gate.mode = mode
        let trace = try RecordingTrace(settings)
        let detector = FileDetector(settings.detector)
        let detections = try detector.detections(in: settings.file)
        #expect(detections.count == 1 && trace.words.map(\.time) == detections.map(\.time))
        #expect(trace.words.map(\.name) == ["left"])
        #expect(trace.hops.filter { $0.fired != nil }.map(\.time) == trace.words.map(\.time))
    }

    @Test func `where networks confirm words, both parts of a confidence are shown, and what they refused`() throws {
        let folder = try TestFolder()
        let vocabulary = Vocabulary(try Model(folder: ModelCopy.confirming(in: folder)))
        var settings = Self.settings("Front_Left", vocabulary)
        settings.detector.thresholds.setAll(0.3)
        let trace = try RecordingTrace(settings)
        let word = try #require(trace.words.first { $0.confirmed != nil })
        let parts = try #require(word.parts)
        #expect(parts.hasPrefix("proposed ") && parts.contains(" %, confirmed "))
        let refusal = try #require(trace.hops.compactMap(\.refusal).first)
        #expect(refusal.confidence < 0.3)
        let report = InspectReport(trace)
        let json = "\(report.json)"
        #expect(json.contains("\"confirm\": \"on\"") && json.contains("\"proposed\": "))
        let name = vocabulary.labels[refusal.label]
        #expect(
            json.contains(
                "{\"refused\": {\"confidence\": \(decimal(Double(refusal.confidence), 4)), \"confirmed\": "
                    + "\(decimal(Double(refusal.confirmed), 4)), \"word\": \"\(name)\"}, \"scores\": "
            )
        )
        let page = try InspectPage(report).html()
        for text in ["Proposed", "Confirmed", parts, "proposed, not confirmed", "after a second look"] {
            #expect(page.contains(text), "\(text)")
        }
        let plain = try InspectPage(
            InspectReport(RecordingTrace(Self.settings("Front_Left", Self.vocabulary(confirms: false))))
        )
        .html()
        #expect(!plain.contains("Proposed") && !plain.contains("second look"))
    }

    @Test func `a section after the end is an error, and a cancelled trace is not`() throws {
        let vocabulary = try Self.vocabulary()
        var settings = Self.settings("Side_Left", vocabulary)
        settings.from = 100
        #expect(throws: ReportError.self) { try RecordingTrace(settings) }
        let cancelled = try RecordingTrace(settings) { _, _ in false }
        #expect(cancelled.hops.isEmpty)
    }
}
