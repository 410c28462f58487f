import Audio
import Core
import Foundation
import Inference
import TestSupport
import Testing

@testable import Spotting

/// Clips and whole files, on the shipped model and the recorded voice.
struct OfflineTests {
    private static func vocabulary() throws -> Vocabulary { Vocabulary(try Model(folder: Checkout.model)) }

    private static func thresholds(_ vocabulary: Vocabulary) -> Thresholds {
        vocabulary.thresholds(mode: .spot)
    }

    private static let modes: [(DetectionMode, GateSettings.Trigger)] = [
        (.spot, .early), (.spot, .end), (.command, .early), (.command, .end),
    ]

    @Test(arguments: modes)
    func `a file's detections are those of a stream`(
        _ mode: DetectionMode,
        _ trigger: GateSettings.Trigger
    ) throws {
        let vocabulary = try Self.vocabulary()
        let thresholds = Self.thresholds(vocabulary)
        var settings = GateSettings()
        (settings.mode, settings.trigger) = (mode, trigger)
        let phrases = [try Phrase("left right", words: vocabulary.labels)]
        let detectorSettings = DetectorSettings(vocabulary, gate: settings, thresholds: thresholds, phrases: phrases)
        let folder = try TestFolder()
        var audio: [Float] = []
        for name in ["Side_Left", "Rear_Right", "Front_Center", "Rear_Left"] {
            audio += try Voices.samples(name) + [Float](repeating: 0, count: 12_000)
        }
        let path = try folder.write("talk.wav", format: 0x10002, rate: Voices.rate, audio)

        var detector = Detector(detectorSettings)
        var expected: [Detection] = []
        var stream = try FileWindows(FileStream(path: path, mix: .mix))
        while try stream.next({ window in detector.process(window: window) { expected.append($0) } }) {}
        #expect(expected.filter { $0.kind == .word }.count >= 2)

        let files = FileDetector(detectorSettings)
        for workers in [1, 3] { #expect(try files.detections(in: path, spare: SpareWorkers(workers - 1)) == expected) }
    }

    @Test func `hops come in order with their windows, and false stops`() throws {
        let vocabulary = try Self.vocabulary()
        for lookahead in [nil, 0.1...0.5] as [ClosedRange<Double>?] {
            let scorer = FileScorer(vocabulary, lookaheadQuiet: lookahead)
            var seconds: [Double] = []
            var levels: [Float] = []
            try scorer.forEachHop(of: FileStream(path: Voices.path("Side_Left"), mix: .mix)) { hop, window in
                seconds.append(hop.seconds)
                levels.append((0..<window.count).map { abs(window[$0]) }.max() ?? 0)
                return true
            }
            // 1.41 s of audio are 15 hops; 10 hops of silence follow.
            #expect(seconds.count == 25 && seconds[0] == 0.1 && seconds[13] == 1.4)
            #expect(seconds[14...].allSatisfy { $0 == seconds[24] && $0 > 1.4 && $0 < 1.5 })
            let loudest = levels.max() ?? 0
            #expect((levels.first ?? 1) < loudest / 2 && loudest > 0.01 && (levels.last ?? 1) < loudest / 2)

            var count = 0
            try scorer.forEachHop(of: FileStream(path: Voices.path("Side_Left"), mix: .mix)) { _, _ in
                count += 1
                return count < 7
            }
            #expect(count == 7)
        }
    }

    @Test func `a damaged file's detections come before its error`() throws {
        let vocabulary = try Self.vocabulary()
        let folder = try TestFolder()
        let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Voices.path("Side_Left"))))
        let path = try folder.write("cut.wav", bytes: Array(whole.dropLast(1000)))
        for mode in DetectionMode.allCases {
            var settings = GateSettings()
            settings.mode = mode
            let detector = FileDetector(DetectorSettings(vocabulary, gate: settings))
            var last = 0.0
            #expect(throws: AudioError.truncated) {
                try detector.detect(in: FileStream(path: path, mix: .mix)) { hop, _, _ in
                    last = hop.seconds
                    return true
                } report: { _ in
                }
            }
            #expect(last > 1.2)
        }
    }

    @Test func `the loudest second of a longer clip, the middle of a shorter one`() {
        var samples = [Float](repeating: 0, count: 40_000)
        for index in 20_000..<24_000 { samples[index] = 1 }
        let window = ClipScorer.loudestWindow(of: samples, length: 16_000, hop: 1_600)
        #expect(window.count == 16_000 && window.reduce(0, +) == 4_000)
        let short = ClipScorer.loudestWindow(of: [1, 2], length: 6, hop: 2)
        #expect(short == [0, 0, 1, 2, 0, 0])
        #expect(ClipScorer.loudestWindow(of: [], length: 3, hop: 1) == [0, 0, 0])
    }
}
