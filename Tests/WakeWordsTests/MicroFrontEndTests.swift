import TestSupport
import Testing

@testable import WakeWords

struct MicroFrontEndTests {
    private func features(_ samples: [Int16]) -> [[UInt16]] {
        var frontEnd = MicroFrontEnd()
        var rows: [[UInt16]] = []
        for sample in samples where frontEnd.add(sample) { rows.append(frontEnd.features) }
        return rows
    }

    @Test func `features of synthesised audio equal those of the original front end`() throws {
        let expected = try Fixture.features("synthesised")
        #expect(expected.count == 498)
        #expect(features(Fixture.synthesised()) == expected)
    }

    @Test func `features of a voice equal those of the original front end`() throws {
        let expected = try Fixture.features("voice")
        #expect(expected.count > 200)
        #expect(features(try Fixture.audio("voice")) == expected)
    }

    @Test func `after a reset the features are those of a new front end`() {
        let samples = Array(Fixture.synthesised().prefix(20000))
        var frontEnd = MicroFrontEnd()
        for sample in samples.prefix(777) { _ = frontEnd.add(sample) }
        frontEnd.reset()
        var rows: [[UInt16]] = []
        for sample in samples where frontEnd.add(sample) { rows.append(frontEnd.features) }
        #expect(rows == features(samples))
    }

    @Test func `digital silence gives features of zero`() {
        #expect(
            features([Int16](repeating: 0, count: 1600))
                == [[UInt16]](repeating: [UInt16](repeating: 0, count: 40), count: 8)
        )
    }
}
