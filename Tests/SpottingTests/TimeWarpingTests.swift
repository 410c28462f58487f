import Testing

@testable import Spotting

/// Distances of takes from streams, both as letters: equal ones have cost 0, others 1.
struct TimeWarpingTests {
    @Test(
        arguments: [
            // The take at the end of the stream, or one hop before; earlier its end is missing.
            ("abc", "xxabc", 0), ("abc", "xxabcx", 0), ("abc", "xabcxx", 1.0 / 3),
            // Said slower and faster.
            ("abc", "aabbcc", 0), ("abcdef", "ace", 3.0 / 6), ("aabbcc", "abc", 0),
            // Something in between is passed over for half of its cost, its middle or beginning missing costs all.
            ("abc", "axbc", 0.5 / 3), ("abc", "xxc", 2.0 / 3), ("abcd", "xxcd", 2.0 / 4),
            // Nothing but its beginning, and the reverse.
            ("abcd", "xxab", 2.0 / 4), ("abcd", "dcba", 3.0 / 4), ("abc", "", 1),
            // What lies further back is forgotten.
            ("abc", "abcxxxxxxxxxxxxxxxx", 1),
        ] as [(String, String, Double)]
    )
    func distance(take: String, stream: String, expected: Double) {
        var warping = HopWarping()
        let newest = Array(stream.suffix(HopWarping.steps))
        for letter in take {
            var costs = SIMD16<Float>(repeating: 1)
            for (index, said) in newest.enumerated() where said == letter {
                costs[HopWarping.steps - newest.count + index] = 0
            }
            warping.add(costs)
        }
        #expect(abs(Double(warping.distance) - expected) < 1e-6, "\(warping.distance)")
    }

    @Test func `nothing has no distance`() { #expect(HopWarping().distance == 0) }

    @Test(
        arguments: [
            // Where the third letter of the take is in the stream, and where the take ends.
            ("abcde", "abcde", 2, 4), ("abcde", "xabcdex", 3, 5), ("abcde", "abbccde", 4, 6), ("abcde", "abxcde", 3, 5),
            ("abcde", "xxade", 3, 4),
        ] as [(String, String, Int, Int)]
    )
    func `a row of the take is found in the stream, and distances are the same`(
        take: String,
        stream: String,
        row: Int,
        end: Int
    ) {
        var (warping, plain) = (HopWarping(), HopWarping())
        let older = HopWarping.steps - stream.count
        var places = SIMD16<Float>.zero
        for (index, letter) in take.enumerated() {
            var costs = SIMD16<Float>(repeating: 1)
            for (step, said) in stream.enumerated() where said == letter { costs[older + step] = 0 }
            warping.add(costs, carrying: &places)
            plain.add(costs)
            if index == 2 { for step in 0..<stream.count { places[older + step] = Float(step) } }
        }
        #expect(warping.distance == plain.distance)
        let last = warping.end(ends: HopWarping.ends)
        #expect(last - older == end && places[last] == Float(row), "\(last - older), \(places[last])")
    }
}
