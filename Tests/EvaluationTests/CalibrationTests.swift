import Testing

@testable import Evaluation

struct CalibrationTests {
    @Test func `expected calibration error over bins`() throws {
        // Bins of a fifth: (0.4, wrong) alone; 0.7 and 0.75, one right; 1.0 and 0.9, both right.
        let answers = [(0.45, false), (0.7, true), (0.75, false), (1.0, true), (0.9, true)]
        let calibration = Calibration(answers.map { (confidence: $0.0, isRight: $0.1) }, bins: 5)
        #expect(calibration.bins.map(\.count) == [0, 0, 1, 2, 2])
        #expect(calibration.bins[3].accuracy == 0.5 && calibration.bins[0].accuracy == nil)
        // (0.45 · 1 + (0.725 − 0.5) · 2 + (1 − 0.95) · 2) / 5
        #expect(calibration.error.map { Int(($0 * 10_000).rounded()) } == 2000)
    }

    @Test func `confidences out of range fall into the first bin`() {
        let calibration = Calibration([(confidence: .nan, isRight: true), (confidence: -1, isRight: true)], bins: 5)
        #expect(calibration.bins.map(\.count) == [2, 0, 0, 0, 0])
    }
}
