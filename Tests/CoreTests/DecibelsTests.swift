import Core
import Testing

struct DecibelsTests {
    @Test(arguments: [(1.0, 0.0), (0.5, -3.0103), (0.01, -20), (1e-12, -120), (0, -120), (-1, -120)])
    func `the level of a mean square`(meanSquare: Double, level: Double) {
        #expect(abs(decibels(meanSquare) - level) < 1e-4)
        #expect(abs(Double(decibels(Float(meanSquare))) - level) < 1e-4)
    }

    @Test(arguments: [(Float(1), 0.0), (0.5, -6.0206), (0.1, -20), (1e-6, -120), (0, -120), (-1, -120)])
    func `the level of an amplitude`(amplitude: Float, level: Double) {
        #expect(abs(decibels(amplitude: amplitude) - level) < 1e-4)
    }
}
