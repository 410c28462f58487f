import Testing

@testable import Charts

/// Positions of values along an axis, and its ticks; the expected values come from hand-made tables.
struct ScaleTests {
    @Test func `places on each scale`() throws {
        #expect(Scale.linear(-1, 3).position(of: 0) == 0.25)
        #expect(Scale.time(0, 8).position(of: 10) == 1.25)
        #expect(try abs(#require(Scale.log(0.01, 100).position(of: 1)) - 0.5) < 1e-12)
        #expect(try abs(#require(Scale.probit(0.01, 0.99).position(of: 0.5)) - 0.5) < 1e-12)
    }

    @Test func `values without an axis position`() {
        for value in [Double.nan, .infinity, -.infinity] { #expect(Scale.linear(0, 1).position(of: value) == nil) }
        for value in [0, -1, Double.nan] { #expect(Scale.log(0.1, 1).position(of: value) == nil) }
        for value in [0, 1, -0.1, 1.1, Double.nan] { #expect(Scale.probit(0.1, 0.9).position(of: value) == nil) }
    }

    /// Quantiles of the standard normal distribution from printed tables.
    @Test(arguments: [
        (0.5, 0.0), (0.158_655_254, -1.0), (0.841_344_746, 1.0), (0.022_750_132, -2.0), (0.975, 1.959_963_985),
        (0.001, -3.090_232_306), (0.000_001, -4.753_424_309), (0.999_999, 4.753_424_309),
    ])
    func `normal deviates`(_ probability: Double, _ deviate: Double) {
        #expect(abs(normalDeviate(probability) - deviate) < 1e-7, "\(normalDeviate(probability))")
    }

    @Test(arguments: [
        (Scale.linear(0, 1), 6, "0 0.2 0.4 0.6 0.8 1"),
        (Scale.linear(0, 1), 5, "0 0.5 1"),
        (Scale.linear(-3, 11), 8, "-2 0 2 4 6 8 10"),
        (Scale.linear(0.3, 0.31), 3, "0.3 0.305 0.31"),
        (Scale.linear(0, 45_000), 5, "0 10000 20000 30000 40000"),
        (Scale.time(0, 1.5), 7, "0 0.5 1 1.5"),
        (Scale.time(0, 9.7), 12, "0 1 2 3 4 5 6 7 8 9"),
        (Scale.time(3, 41), 8, "5 10 15 20 25 30 35 40"),
        (Scale.time(0, 300), 12, "0:00 0:30 1:00 1:30 2:00 2:30 3:00 3:30 4:00 4:30 5:00"),
        (Scale.time(3590, 3620), 5, "59:50 1:00:00 1:00:10 1:00:20"),
        (Scale.log(0.1, 10), 10, "0.1 0.2 0.5 1 2 5 10"),
        (Scale.log(0.1, 10), 4, "0.1 1 10"),
        (Scale.log(0.001, 1000), 4, "0.001 0.1 10 1000"),
        (Scale.log(1e-6, 1e-5), 4, "1e-6 2e-6 5e-6 1e-5"),
        (Scale.probit(0.001, 0.4), 20, "0.1·% 0.2·% 0.5·% 1·% 2·% 5·% 10·% 20·% 40·%"),
        (Scale.probit(0.01, 0.99), 5, "1·% 5·% 20·% 40·% 80·% 95·% 99·%"),
    ])
    func `ticks are round numbers`(_ scale: Scale, _ count: Int, _ expected: String) {
        let labels = scale.ticks(atMost: count).map { $0.label.replacing(" ", with: "·") }
        #expect(labels.joined(separator: " ") == expected)
    }

    @Test func `invalid ends still give a scale`() {
        let scales: [Scale] = [
            .linear(.nan, 1), .linear(2, 2), .linear(5, 1), .linear(0, .infinity), .linear(1e300, 1e300), .time(0, 0),
            .log(0, 0), .log(-1, 10), .log(5, 5), .log(.nan, .nan), .probit(0, 1), .probit(-3, 7), .probit(0.5, 0.5),
            .linear(-.greatestFiniteMagnitude, .greatestFiniteMagnitude),
        ]
        for scale in scales {
            #expect(scale.lower < scale.upper)
            #expect(scale.position(of: scale.lower) == 0 && scale.position(of: scale.upper) == 1, "\(scale)")
            for count in [-1, 0, 1, 2, 10, 50] { #expect(scale.ticks(atMost: count).count < 60, "\(scale)") }
        }
        #expect(Scale.linear(5, 1) == Scale.linear(1, 5))
    }
}
