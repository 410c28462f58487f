import TestSupport
import Testing

@testable import WakeWords

struct StreamingNetworkTests {
    /// Probabilities after each step, in 256ths.
    private func probabilities(_ network: StreamingNetwork, _ features: [[UInt16]]) -> [UInt8] {
        let stream = NetworkStream(network)
        return probabilities(stream, features)
    }

    private func probabilities(_ stream: borrowing NetworkStream, _ features: [[UInt16]]) -> [UInt8] {
        var answers: [UInt8] = []
        for (index, row) in features.enumerated() {
            stream.put(row, hop: index % 3)
            if index % 3 == 2 { answers.append(UInt8(stream.run() * 256)) }
        }
        return answers
    }

    @Test(arguments: Fixture.names) func `probabilities equal those of TFLite at every step`(name: String) throws {
        let network = try StreamingNetwork(bytes: Fixture.model(name))
        #expect(network.hopsPerStep == 3)
        let expected = try Fixture.bytes("spoken.\(name)")
        #expect(expected.count > 300 && expected.max() ?? 0 > 240, "the word is in the fixture")
        #expect(probabilities(network, try Fixture.features("spoken")) == expected)
    }

    /// Sums, products, pools, means, padding and joining, which the shipped models do not have.
    @Test func `probabilities of other operators equal those of TFLite at every step`() throws {
        let network = try StreamingNetwork(bytes: Fixture.bytes("elements.tflite"))
        let expected = try Fixture.bytes("elements.probabilities")
        #expect(Set(expected).count > 30 && expected.count > 300)
        #expect(probabilities(network, try Fixture.features("spoken")) == expected)
    }

    @Test(arguments: [(11, 121, 11), (11, -6, -1), (10, 25, 3), (10, -25, -3), (1, 7, 7)])
    func `a mean is rounded, ties away from zero`(count: Int, sum: Int32, expected: Int32) throws {
        #expect(try Rescaling(1, ofMean: count).apply(sum) == expected)
    }

    @Test func `after a reset a stream answers as at its start`() throws {
        let stream = NetworkStream(try StreamingNetwork(bytes: Fixture.model("okay_nabu")))
        let features = Array(try Fixture.features("spoken").prefix(150))
        let first = probabilities(stream, features)
        #expect(probabilities(stream, features) != first, "the rings remember")
        stream.reset()
        #expect(probabilities(stream, features) == first)
    }

    @Test(arguments: Fixture.names) func `a step has some ten thousand multiplications`(name: String) throws {
        let network = try StreamingNetwork(bytes: Fixture.model(name))
        #expect((10_000...50_000).contains(network.multiplyAdds))
    }

    @Test(arguments: [(0.75, 3, 2), (0.5, 5, 3), (0.5, -5, -2), (0.1, -25, -2), (3.0, -7, -21), (1e-12, 1 << 30, 0)])
    func `sums are scaled and rounded, ties upwards`(scale: Double, sum: Int32, expected: Int32) throws {
        #expect(try Rescaling(scale).apply(sum) == expected)
    }

    @Test func `ties can be rounded away from zero`() throws {
        #expect(try Rescaling(0.25, tiesAway: true).apply(-10) == -3)
        #expect(try Rescaling(0.25).apply(-10) == -2)
        #expect(try Rescaling(0.25, tiesAway: true).apply(10) == 3)
        #expect(try Rescaling(2, tiesAway: true).apply(-3) == -6)
    }

    @Test func `a scale that is not a usual number is refused`() {
        for scale in [0, -1, Double.nan, .infinity, 0x1p40] {
            #expect(throws: WakeWordError.damaged) { try Rescaling(scale) }
        }
    }
}
