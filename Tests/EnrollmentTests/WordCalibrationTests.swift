import Core
import Foundation
import Inference
import Spotting
import TestSupport
import Testing

@testable import Enrollment

struct WordCalibrationTests {
    @Test func `a word's threshold lies between takes and talk, and similar words are named`() throws {
        let model = try RecordedTakes.model()
        let negatives = try NegativeSet(folder: RecordedTakes.folder, model: model)
        #expect(negatives.talk.count > 35000 && negatives.utterances.count > 1000 && negatives.words.count == 10)
        var center = try RecordedTakes.word("center", try RecordedTakes.variants("Rear_Center", 4))
        let side = try RecordedTakes.word("side left", try RecordedTakes.variants("Side_Left", 3))
        let calibration = center.calibrate(among: [side], negatives)
        #expect(center.boundary == calibration.boundary && calibration.suggested.threshold == 0.8)
        #expect(calibration.suggested.missed < 0.1 && abs(calibration.suggested.command - 0.44) < 0.1)
        #expect(calibration.suggested.missed < calibration.suggested.missedOfOthers)
        #expect(calibration.suggested.command <= calibration.suggested.spot)
        for (lax, strict) in zip(calibration.rates, calibration.rates.dropFirst()) {
            #expect(lax.threshold < strict.threshold && lax.missed <= strict.missed && lax.spot >= strict.spot)
        }
        #expect(calibration.nearestOwn?.name == "side left" && calibration.nearestOwn?.taken == 0)
        #expect(calibration.nearestBuiltIn != nil)
        // A word that sounds like one of the model's words has that word as a neighbour.
        var left = try RecordedTakes.word("links", try RecordedTakes.variants("Front_Left", 3))
        let near = left.calibrate(among: [], negatives)
        #expect(near.nearestOwn == nil)
        #expect((near.nearestBuiltIn?.similarity ?? 0) > (calibration.nearestBuiltIn?.similarity ?? 1) - 0.5)
    }

    @Test func `a word's thresholds follow the rates of the sensitivities`() throws {
        let model = try RecordedTakes.model()
        let negatives = try NegativeSet(folder: RecordedTakes.folder, model: model)
        for (name, file) in [("center", "Rear_Center"), ("links", "Front_Left")] {
            var word = try RecordedTakes.word(name, try RecordedTakes.variants(file, 4))
            #expect(word.sensitivities.isEmpty)
            let calibration = word.calibrate(among: [], negatives)
            let table = word.sensitivities
            #expect(table == calibration.sensitivities)
            let ends = try Self.ends(of: word, negatives)
            for mode in DetectionMode.allCases {
                let strict = try #require(table[.strict, mode])
                let eager = try #require(table[.eager, mode])
                let balanced = try #require(table[.balanced, mode])
                #expect(eager <= balanced && balanced <= strict, "\(name) \(mode)")
                #expect(mode == .spot ? balanced >= word.threshold : balanced == word.threshold)
                // Where no limit applies, the rate above the threshold is that of the sensitivity.
                if mode == .command, strict > word.threshold, strict < 0.99 {
                    let similarity = word.firingBoundary + TaughtWord.margin(probability: strict)
                    #expect(abs(ends.rate(above: similarity) - 0.044) < 0.0125)
                }
                if mode == .command, eager < word.threshold, eager > 0.2 {
                    let similarity = word.firingBoundary + TaughtWord.margin(probability: eager)
                    #expect(abs(ends.rate(above: similarity) - 2.2) < 1.25)
                }
            }
            #expect(try #require(table[.strict, .spot]) >= (try #require(table[.strict, .command])))
            #expect(try #require(table[.eager, .spot]) >= (try #require(table[.eager, .command])))
        }
    }

    /// The ends of talk after the second look.
    private static func ends(of word: WordStore.Word, _ negatives: NegativeSet) throws -> PeaksOverThreshold {
        let looks = try #require(negatives.looks(at: word, negatives.similarities(to: word)))
        let similarities = looks.similarities
        #expect(similarities.alone.count > 10 && similarities.anywhere.count > similarities.alone.count)
        return PeaksOverThreshold(
            similarities.alone,
            hours: negatives.hours,
            usualScale: similarities.usualScale
        )
    }

    @Test func `words of an earlier version get their estimates when they are loaded`() throws {
        let model = try RecordedTakes.model()
        let folder = try TestFolder()
        let negatives = try NegativeSet(folder: RecordedTakes.folder, model: model)
        var word = try RecordedTakes.word("center", try RecordedTakes.variants("Rear_Center", 4))
        let calibration = word.calibrate(among: [], negatives)
        let estimates = calibration.sensitivities(threshold: 0.85, boundary: word.firingBoundary)
        word.threshold = 0.85
        word.sensitivities = SensitivityTable()
        let file = WordStoreFile(path: folder.file("words"))
        try file.update { $0 = WordStore(words: [word]) }
        #expect(try file.read()?.words.first?.sensitivities.isEmpty == true)
        let words = try TaughtWords(file.path).load(for: model, folder: RecordedTakes.folder).words
        let loaded = try #require(words.first)
        #expect(loaded.threshold == 0.85)
        #expect(loaded.sensitivities == estimates)
        for mode in DetectionMode.allCases {
            #expect(try #require(estimates[.strict, mode]) >= 0.85 && #require(estimates[.eager, mode]) <= 0.85)
        }
        // Without talk to compare with there is no estimate.
        let bare = try TaughtWords(file.path).load(for: model, folder: folder.path).words
        #expect(bare.first?.sensitivities.isEmpty == true)
    }

    @Test func `rates beyond the peaks fall off exponentially`() {
        // The scale of usual words, to which the estimate is shrunk.
        let scale = 0.046
        let peaks = (0..<4000).map { Float(-scale * log(Double($0 + 1) / 4000)) }
        let tail = PeaksOverThreshold(peaks, hours: 2, usualScale: scale)
        // An exponential distribution: 4000 e^(-x / scale) values above x in two hours.
        for value in [5, 6, 7, 8].map({ Float(scale) * $0 }) {
            let expected = 2000 * exp(-Double(value) / scale)
            #expect(tail.rate(above: value) > expected * 0.6 && tail.rate(above: value) < expected * 1.6)
            #expect(abs(tail.value(rate: tail.rate(above: value)) - value) < 0.3 * Float(scale))
        }
        // Ten peaks with ten times that scale move it by a third of the way.
        let wide = PeaksOverThreshold(peaks.map { $0 * 10 }, hours: 2, usualScale: scale)
        let (near, far) = (wide.rate(above: 4), wide.rate(above: 4.1))
        let found = 0.1 / log(near / far)
        #expect(found > 2 * scale && found < 5 * scale)
        #expect(PeaksOverThreshold([], hours: 1, usualScale: scale).rate(above: 0) == 0)
    }
}
