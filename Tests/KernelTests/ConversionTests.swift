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
}
