import Core
import Foundation
import Inference
import TestSupport
import Testing
import WakeWords

@testable import Spotting

/// Wake words with models of their own, beside the shipped model.
struct WakeWordTests {
    private static let models = Checkout.path + "/Models/wake-words"

    /// A shipped wake word, that fires at a mean which the recorded voice reaches.
    private static func word(_ name: String, cutoff: Double = 0.004) throws -> WakeWord {
        let shipped = try WakeWord(path: "\(models)/\(name).json")
        let json = try String(contentsOfFile: "\(models)/\(name).json", encoding: .utf8)
        let own = json.replacing(
            "\"probability_cutoff\": \(shipped.manifest.cutoff)",
            with: "\"probability_cutoff\": \(cutoff)"
        )
        return WakeWord(manifest: try WakeWordManifest(json: Array(own.utf8)), network: shipped.network)
    }

    private static func detect(_ settings: DetectorSettings, _ audio: [Float]) -> [Detection] {
        var detector = Detector(settings)
        let window = [Float](repeating: 0, count: 16_000) + audio
        var found: [Detection] = []
        for hop in 1...audio.count / 1600 {
            detector.process(window: window.span.extracting(hop * 1600..<hop * 1600 + 16_000)) { found.append($0) }
        }
        return found
    }

    /// A gate of one word that fires by itself above 0.8; nil for one that never fires.
    private static func gate(threshold: Float? = 0.8, refractory: Double = 0.7) -> Gate {
        var settings = GateSettings()
        settings.refractory = refractory
        let thresholds = Thresholds(labels: ["a", "_silence_"], values: [threshold, nil])
        var gate = Gate(settings: settings, thresholds: thresholds, silence: 1, hopSeconds: 0.1)
        gate.rising = [Gate.RisingWord(label: 0)]
        return gate
    }

    @Test func `a word fires once each time that the mean rises above its threshold`() {
        var gate = Self.gate()
        var fired: [Int] = []
        let means: [Float] = [0.1, 0.9, 0.95, 0.5, 0.9, 0.2, 0.2, 0.2, 0.9, 0.2, 0.2, 0.2, 0.2, 0.9]
        for (index, mean) in means.enumerated() where gate.rise(0, mean, at: 0.2 * Double(index)) != nil {
            fired.append(index)
        }
        // Within 0.7 s it does not fire again, and a mean that equals the threshold is not above it.
        #expect(fired == [1, 8, 13])
        var (equal, never) = (Self.gate(refractory: 0), Self.gate(threshold: nil, refractory: 0))
        #expect(equal.rise(0, 0.8, at: 0) == nil && never.rise(0, 1, at: 0) == nil)
    }

    @Test func `a later look that hears the end of the same utterance again fires nothing`() {
        var gate = Self.gate()
        #expect(gate.rise(0, 0.9, at: 1.86) != nil)
        #expect(gate.rise(0, 0, at: 2.7) == nil)
        #expect(gate.rise(0, 0.9, at: 1.92) == nil)
        #expect(gate.rise(0, 0.9, at: 3.4) != nil, "another one")
    }

    @Test(arguments: [(0, 0.5), (1, 0.1), (3, 0.1), (4, nil)] as [(Int, Double?)])
    func `a word that is looked at fires once a look confirms it, a few hops later at most`(refusals: Int, at: Double?)
    {
        var gate = Self.gate()
        gate.proposals = [0.8, nil]
        #expect(gate.rise(0, 0.9, at: 0.5) == nil, "only proposed")
        let no = Verdict(label: 0, confidence: 0, confirmed: 0.1)
        for _ in 0..<refusals { #expect(gate.confirm(rising: 0, no) == nil) }
        let found = gate.confirm(rising: 0, Verdict(label: 0, confidence: 0.9, confirmed: 0.7))
        // One that was refused first fires at the next hop, which is the first here.
        #expect(found?.time == at && found?.end == at.map { _ in 0.5 })
        #expect(found?.confirmed == at.map { _ in 0.7 } && found?.proposed == at.map { _ in 0.9 })
        #expect(gate.confirm(rising: 0, Verdict(label: 0, confidence: 0.9, confirmed: 0.7)) == nil, "once")
        // What was refused for good may be proposed again as soon as the score has fallen.
        #expect(gate.rise(0, 0.1, at: 0.6) == nil && gate.rise(0, 0.9, at: 0.7) == nil)
        #expect((gate.rising[0].proposal != nil) == (at == nil))
        gate.flush()
        #expect(gate.rising[0].proposal == nil)
    }

    @Test func `a score that rises nearly to the threshold and falls may be a near miss`() {
        // A step each 0.5 s, threshold 0.8, margin 0.3: near misses begin at 0.5. What is certain, and when.
        func misses(_ scores: [Float], threshold: Float? = 0.8, flushed: Bool = false) -> [String] {
            let gate = Self.gate(threshold: threshold)
            var tracker = NearMissTracker(margin: 0.3, labels: 2, rising: 1, hopSeconds: 0.1)
            var filter = NearMissFilter()
            var found: [String] = []
            for (index, score) in scores.enumerated() {
                let time = 0.5 * Double(index)
                tracker.rise(0, score, at: time, gate: gate, &filter)
                if let miss = filter.take(at: time) { found.append("\(miss.confidence) at \(miss.end), \(time)") }
            }
            if flushed { tracker.flush() }
            tracker.finish(gate: gate, hasFired: false, &filter)
            if let miss = filter.take(at: 99, isEnd: true) { found.append("\(miss.confidence) at \(miss.end), end") }
            return found
        }
        #expect(misses([0, 0.6, 0.7, 0.6, 0.1, 0.1, 0.1, 0.1]) == ["0.7 at 1.0, 3.5"])
        #expect(misses([0, 0.4, 0.1, 0.1, 0.1]) == [], "too low")
        #expect(misses([0, 0.6, 0.9, 0.6, 0.1, 0.1, 0.1]) == [], "it fired")
        #expect(misses([0.9, 0.1, 0.6, 0.1, 0.1, 0.1, 0.1]) == ["0.6 at 1.0, 3.0"])
        #expect(misses([0.9, 0.6, 0.7, 0.7]) == [], "still the score of the word that fired")
        #expect(misses([0, 0.8, 0.1]) == ["0.8 at 0.5, end"], "it equals the threshold")
        #expect(misses([0, 0.6]) == ["0.6 at 0.5, end"])
        #expect(misses([0, 0.7, 0.7], threshold: nil) == [], "it never fires")
        #expect(misses([0, 0.6], flushed: true) == [], "forgotten")
    }

    @Test func `a wake word that is nearly found is a near miss`() throws {
        let model = try RecordedVoice.model(confirms: false)
        let voice = try RecordedVoice.voice("Side_Left") + RecordedVoice.quiet + RecordedVoice.quiet
        var detector = WakeWordDetector([try Self.word("okay_nabu")])
        var highest: Float = 0
        detector.add(voice.span) { _, score, _ in highest = max(highest, score) }
        // The threshold is a little higher than what the voice reaches.
        let word = try Self.word("okay_nabu", cutoff: Double(highest) * 1.2)
        var settings = DetectorSettings(Vocabulary(model, wakeWords: [word]))
        settings.gate.nearMissMargin = 0.5
        // Without "left", which is found: nothing else is a near miss beside it.
        let label = try #require(settings.vocabulary.labels.firstIndex(of: "okay nabu"))
        settings.thresholds = settings.thresholds.replacing(
            settings.thresholds.values.indices.map { $0 == label ? settings.thresholds.values[$0] : nil }
        )
        let found = Self.detect(settings, voice).filter { settings.name(of: $0) == "okay nabu" }
        #expect(found.map(\.kind) == [.nearMiss])
        let miss = try #require(found.first)
        #expect(miss.threshold == word.threshold && miss.confidence < word.threshold)
        #expect(miss.confidence > 0.9 * highest && miss.time >= miss.end + 1 && miss.start < miss.end)
    }

    @Test func `wake words are labels before the special ones, with the thresholds of their manifests`() throws {
        let model = try RecordedVoice.model(confirms: false)
        let taught = try #require(
            TaughtWord(name: "lamp", threshold: 0.7, templates: [[1]], templateSpacing: 0, boundary: 0.5)
        )
        let words = try ["okay_nabu", "alexa"].map { try WakeWord(path: "\(Self.models)/\($0).json") }
        let vocabulary = Vocabulary(model, taught: [taught], wakeWords: words)
        #expect(vocabulary.labels.suffix(5) == ["lamp", "okay nabu", "alexa", "_unknown_", "_silence_"])
        #expect(vocabulary.thresholds(mode: .spot).values.suffix(5) == [0.7, 0.85, 0.9, nil, nil])
        var choices = ThresholdChoices()
        choices.all = .sensitivity(.strict)
        #expect(try choices.thresholds(of: vocabulary, mode: .spot).values.suffix(4) == [0.85, 0.9, nil, nil])
        choices.words["alexa"] = .sensitivity(.strict)
        #expect(throws: SpottingError.noThresholds) { try choices.thresholds(of: vocabulary, mode: .spot) }
        choices.words["alexa"] = .confidence(0.5)
        #expect(try choices.thresholds(of: vocabulary, mode: .spot).values.suffix(3) == [0.5, nil, nil])
    }

    @Test func `a wake word is found at its own time, and the model's words as without it`() throws {
        let model = try RecordedVoice.model(confirms: false)
        let audio = try RecordedVoice.voice("Side_Left") + RecordedVoice.voice("Rear_Right")
        let vocabulary = Vocabulary(
            model,
            wakeWords: [try Self.word("okay_nabu"), try Self.word("alexa", cutoff: 0.9)]
        )
        let found = Self.detect(DetectorSettings(vocabulary), audio)
        let label = try #require(vocabulary.labels.firstIndex(of: "okay nabu"))
        let wake = found.filter { $0.index == label }
        #expect(wake.count == 1)
        let word = try #require(wake.first)
        // A second of silence, then 1.4 s of voice. Steps end each 30 ms after the first window of 30 ms and two more hops.
        #expect(word.time > 1.4 && word.time < 3 && word.end == word.time && word.threshold == 0.004)
        let steps = (word.time - 0.05) / 0.03
        #expect(abs(steps - steps.rounded()) < 1e-6, "\(word.time)")
        #expect(word.kind == .word && word.confidence > 0.004)
        let alone = Self.detect(DetectorSettings(Vocabulary(model)), audio)
        #expect(alone.count == 2)
        #expect(found.filter { $0.index != label } == alone)
    }

    @Test func `files and batches of streams find what one detector finds`() throws {
        let model = try RecordedVoice.model(confirms: false)
        let vocabulary = Vocabulary(model, wakeWords: [try Self.word("okay_nabu")])
        let voice = try RecordedVoice.voice("Side_Left") + RecordedVoice.quiet
        let audio = Array(voice.prefix(voice.count / 1600 * 1600))
        let settings = DetectorSettings(vocabulary)
        let expected = Self.detect(settings, audio)
        #expect(expected.count == 2)
        var batch = BatchDetector(settings)
        let stream = batch.makeStream()
        var found: [Detection] = []
        for hop in 0..<audio.count / 1600 {
            stream.fill { room in
                for index in room.indices { room[index] = audio[hop * 1600 + index] }
                return room.count
            }
            batch.process([stream]) { found.append($1) }
        }
        #expect(found == expected)
        let folder = try TestFolder()
        // 16-bit samples, as the front end has them.
        let file = try folder.write("a.wav", format: 0x010002, audio)
        let inFile = try FileDetector(settings).detections(in: file)
        #expect(inFile.map(\.index) == expected.map(\.index))
        #expect(inFile.first?.time == expected.first?.time)
    }

    @Test func `a wake word goes on while other settings change`() throws {
        let model = try RecordedVoice.model(confirms: false)
        let wake = try Self.word("okay_nabu")
        let audio = try RecordedVoice.voice("Side_Left")
        let window = [Float](repeating: 0, count: 16_000) + audio
        func count(_ settings: (Int) throws -> DetectorSettings) throws -> Int {
            var detector = Detector(try settings(0))
            var found = 0
            for hop in 1...audio.count / 1600 {
                _ = detector.update(try settings(hop))
                var words: [Detection] = []
                detector.process(window: window.span.extracting(hop * 1600..<hop * 1600 + 16_000)) { words.append($0) }
                for word in words where detector.settings.name(of: word) == "okay nabu" { found += 1 }
            }
            return found
        }
        // Another vocabulary at each hop, of the same wake word.
        #expect(try count { _ in DetectorSettings(Vocabulary(model, wakeWords: [wake])) } == 1)
        // One that is loaded again at each hop begins again, and never hears enough.
        #expect(try count { _ in DetectorSettings(Vocabulary(model, wakeWords: [try Self.word("okay_nabu")])) } == 0)
    }
}
