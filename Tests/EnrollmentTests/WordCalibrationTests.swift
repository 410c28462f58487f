import Foundation
import Testing

@testable import Enrollment

struct WordCalibrationTests {
    @Test func `a word's threshold lies between takes and talk, and similar words are named`() throws {
        let model = try RecordedTakes.model()
        let negatives = try NegativeSet(folder: RecordedTakes.folder, model: model)
        #expect(negatives.talk.count > 30000 && negatives.ends.count > 1000 && negatives.words.count == 10)
        var center = try RecordedTakes.word("center", try RecordedTakes.variants("Rear_Center", 4))
        let side = try RecordedTakes.word("side left", try RecordedTakes.variants("Side_Left", 3))
        let calibration = center.calibrate(among: [side], negatives)
        #expect(center.boundary == calibration.boundary && calibration.suggested.threshold == 0.8)
        #expect(calibration.suggested.missed < 0.1 && calibration.suggested.spot < 2)
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

    @Test func `rates beyond the peaks fall off exponentially`() {
        let peaks = (0..<4000).map { Float(-log(Double($0 + 1) / 4000)) }
        let tail = PeaksOverThreshold(peaks, hours: 2)
        // An exponential distribution: 4000 e^-x values above x in two hours.
        for value in [5, 6, 8, 10, 12] as [Float] {
            let expected = 2000 * exp(-Double(value))
            #expect(tail.rate(above: value) > expected * 0.6 && tail.rate(above: value) < expected * 1.6)
            #expect(abs(tail.value(rate: tail.rate(above: value)) - value) < 0.3)
        }
        #expect(PeaksOverThreshold([], hours: 1).rate(above: 0) == 0)
    }
}
