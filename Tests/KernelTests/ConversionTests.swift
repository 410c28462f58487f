import Kernels
import Testing

struct ConversionTests {
    @Test func `numbers are rounded to the nearest halves`() {
        var patterns: [UInt32] = []
        // Every exponent, with fractions around those of halves and between them; of both signs.
        for high in 0..<(1 << 9) as Range<UInt32> {
            let fractions: [UInt32] = [
                0, 1, 0x0FFF, 0x1000, 0x1001, 0x1FFF, 0x3000, 0x40_0000, 0x7F_EFFF, 0x7F_F000, 0x7F_FFFF,
            ]
            patterns += fractions.map { high << 23 | $0 }
        }
        let numbers = patterns.map { Float(bitPattern: $0) }
        for factor: Float in [1, -0.37] {
            var halves = numbers
            halves.withUnsafeMutableBufferPointer { target in
                if let base = target.baseAddress { scaleToHalf(base, by: factor, to: base, count: target.count) }
            }
            for (half, number) in zip(halves, numbers) {
                let expected = Float(Float16(number * factor))
                #expect(expected.isNaN ? half.isNaN : half.bitPattern == expected.bitPattern, "\(number)")
            }
        }
    }

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
