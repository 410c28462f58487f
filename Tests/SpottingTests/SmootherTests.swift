import Foundation
import Spotting
import Testing

struct SmootherTests {
    @Test func `weights are ((1 + p) / N) to the power 0.3`() {
        var smoother = Smoother(labels: 2, count: 3, exponent: 0.3)
        for value in [Float(0.2), 0.6, 0.9] { smoother.add([value, 1 - value]) }
        let weights = [1.0 / 3, 2.0 / 3, 1].map { pow($0, 0.3) }
        let expected = (weights[0] * 0.2 + weights[1] * 0.6 + weights[2] * 0.9) / weights.reduce(0, +)
        #expect(abs(Double(smoother.average[0]) - expected) < 1e-6)
        #expect(abs(smoother.average[0] + smoother.average[1] - 1) < 1e-6)
    }

    @Test func `only the last N vectors count`() {
        var smoother = Smoother(labels: 1, count: 2, exponent: 0)
        for value in [Float(100), 1, 3] { smoother.add([value]) }
        #expect(smoother.average == [2])
    }

    @Test func `before N vectors the average is over those that came`() {
        var smoother = Smoother(labels: 1, count: 5, exponent: 0.3)
        smoother.add([0.7])
        #expect(abs(smoother.average[0] - 0.7) < 1e-6)
    }

    @Test(arguments: 0...5) func `the average computed ahead is the one that comes`(count: Int) {
        var smoother = Smoother(labels: 2, count: 3, exponent: 0.3)
        for number in 0..<count { smoother.add([0.1 * Float(number), 1 - 0.1 * Float(number)]) }
        let before = smoother.average
        smoother.lookAhead([0.8, 0.2])
        #expect(smoother.average == before)
        let lookahead = smoother.lookahead
        smoother.add([0.8, 0.2])
        for (left, right) in zip(lookahead, smoother.average) { #expect(abs(left - right) < 1e-6) }
    }

    @Test func `a flush forgets all vectors`() {
        var smoother = Smoother(labels: 1, count: 3, exponent: 0.3)
        smoother.add([1])
        smoother.flush()
        #expect(smoother.average == [0])
        smoother.add([0.25])
        #expect(smoother.average == [0.25])
    }

    @Test func `a vector of another length is ignored`() {
        var smoother = Smoother(labels: 2, count: 3, exponent: 0.3)
        smoother.add([0.5, 0.5])
        smoother.add([1])
        #expect(smoother.average == [0.5, 0.5])
    }
}
