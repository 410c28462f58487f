import Foundation
import Testing

@testable import Enrollment

struct TimeStretchTests {
    @Test(arguments: [0.75, 0.8, 1.25, 1.6]) func `the duration changes and the pitch stays`(speed: Double) {
        let hertz = 187.0
        let tone = (0..<16000).map { Float(sin(2 * Double.pi * hertz * Double($0) / 16000)) }
        let played = tone[...].stretched(speed: speed)
        #expect(played.count == Int(16000 / speed))
        let middle = played[1000..<played.count - 1000]
        let crossings = zip(middle, middle.dropFirst()).count { $0 < 0 && $1 >= 0 }
        #expect(abs(Double(crossings) - hertz * Double(middle.count) / 16000) <= 2)
        let power = middle.reduce(0) { $0 + $1 * $1 } / Float(middle.count)
        #expect(abs(power - 0.5) < 0.02, "pieces that do not continue each other cancel out: \(power)")
    }

    @Test func `a click stays where it was said`() {
        var samples = [Float](repeating: 0, count: 8000)
        samples[4000] = 1
        for speed in [0.8, 1.25] {
            let played = samples[...].stretched(speed: speed)
            let place = played.indices.max { played[$0] < played[$1] } ?? 0
            #expect(abs(place - Int(4000 / speed)) <= 256, "\(place) at \(speed)")
        }
    }

    @Test func `audio shorter than a piece, silence and none at all`() {
        #expect([Float]()[...].stretched(speed: 0.8).isEmpty)
        #expect([Float](repeating: 0.5, count: 7)[...].stretched(speed: 1.25).count == 5)
        #expect([Float](repeating: 0, count: 3000)[...].stretched(speed: 0.8).allSatisfy { $0 == 0 })
        let samples: [Float] = [1, 2, 3]
        #expect(samples[1...].stretched(speed: 1) == [2, 3])
    }
}
