import Kernels
import Testing

struct ConversionTests {
    @Test func `every half-precision number is converted exactly`() {
        let patterns = (0...UInt16.max).map { $0 }
        var floats = [Float](repeating: 0, count: patterns.count)
        patterns.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { widenHalf(start, to: &floats, count: patterns.count) }
        }
        let wrong = zip(patterns, floats).filter { pattern, float in
            let expected = Float(Float16(bitPattern: pattern))
            return expected.isNaN ? !float.isNaN : expected.bitPattern != float.bitPattern
        }
        #expect(wrong.isEmpty)
    }

    @Test(arguments: [1, 15, 16, 1600, 1601]) func `the peak is the largest magnitude, wherever it is`(count: Int) {
        var samples = (0..<count).map { Float($0 % 7) / 10 - 0.3 }
        for place in [0, count / 2, count - 1] {
            let kept = samples[place]
            for value in [-2, 3] as [Float] {
                samples[place] = value
                #expect(peak(samples, count: count) == abs(value))
            }
            for value in [Float.nan, .infinity, -.infinity] {
                samples[place] = value
                #expect(peak(samples, count: count).isNaN, "\(value) at \(place)")
            }
            samples[place] = kept
        }
        #expect(peak([Float](repeating: 0, count: count), count: count) == 0)
    }

    @Test func `samples become the nearest 16-bit integers`() {
        let values: [Float] = [-32_768, -32_767, -1.6, -1.5, -0.5, 0, 0.4, 0.6, 2.5, 1_000.25, 32_767]
        var shorts = [Int16](repeating: 0, count: values.count)
        narrowToShorts(values.map { $0 / 4 }, by: 4, to: &shorts, count: values.count)
        #expect(shorts == values.map { Int16($0.rounded(.toNearestOrEven)) })
        var floats = [Float](repeating: 0, count: values.count)
        shorts.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { widenShorts(start, to: &floats, count: values.count) }
        }
        #expect(floats == shorts.map { Float($0) })
    }
}
