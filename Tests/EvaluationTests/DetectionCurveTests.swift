import Testing

@testable import Evaluation

struct DetectionCurveTests {
    @Test func `AUROC is the share of pairs in the right order`() {
        let table: [([Float], [Float], Double?)] = [
            ([0.9, 0.8], [0.1, 0.2], 1), ([0.1], [0.9], 0), ([0.5], [0.5], 0.5), ([0.9, 0.4], [0.5, 0.3], 0.75),
            ([0.5, 0.5, 0.9], [0.5, 0.1], 5.0 / 6), ([], [0.1], nil), ([0.1], [], nil),
        ]
        for (positives, negatives, auroc) in table {
            #expect(
                DetectionCurve(positives: positives, negatives: negatives).auroc == auroc,
                "\(positives) \(negatives)"
            )
        }
    }

    @Test func `NaN counts as a score of 0`() {
        let curve = DetectionCurve(positives: [0.9, .nan], negatives: [0.1, .nan])
        // 0.9 is above both negatives; NaN counts as 0, below one negative and equal to the other.
        #expect(curve.auroc == 2.5 / 4)
    }

    @Test func `a curve goes from all missed to all accepted`() {
        let curve = DetectionCurve(positives: [0.9, 0.7, 0.4], negatives: [0.8, 0.2])
        #expect(curve.points.map(\.threshold) == [0.9, 0.8, 0.7, 0.4, 0.2])
        #expect(curve.points.map(\.falseAccept) == [0, 0.5, 0.5, 0.5, 1])
        #expect(curve.points.map { ($0.miss * 3).rounded() } == [2, 2, 1, 0, 0])
    }

    @Test func `a curve of many scores is thinned but keeps its shape`() throws {
        // Positives are uniform over 0.5…1, negatives over 0…1: at a threshold t ≥ 0.5, the miss rate is 2 t − 1.
        let negatives: [Float] = (0..<20_000).map { (Float($0) + 0.5) / 20_000 }
        let positives = negatives.map { 0.5 + 0.5 * $0 }
        let curve = DetectionCurve(positives: positives, negatives: negatives)
        #expect(curve.points.count < 1000)
        for point in curve.points {
            #expect(abs(point.falseAccept - (1 - point.threshold)) < 1e-3)
            let miss = max(0, 2 * point.threshold - 1)
            #expect(abs(point.miss - miss) < 1e-3)
        }
        #expect(abs(try #require(curve.auroc) - 0.75) < 1e-3)
    }
}
