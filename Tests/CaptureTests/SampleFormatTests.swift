import Testing

@testable import Audio
@testable import Capture

struct SampleFormatTests {
    static func convert(_ sample: SampleLayout, _ bytes: [UInt8], room: Int = 8) -> [Float] {
        let format = StreamFormat(rate: 48_000, channels: 1, sample: sample, period: 480, buffer: 4_800)
        var out = [Float](repeating: 9, count: room)
        var span = out.mutableSpan
        let count = bytes.withUnsafeBytes { format.decode($0, into: &span) }
        return Array(out.prefix(count))
    }

    @Test func `full scale, one step and minus one step of each format`() {
        let steps16: [Float] = [-1, 32_767 / 32_768, 0x1p-15, -0x1p-15]
        #expect(Self.convert(.s16, [0x00, 0x80, 0xFF, 0x7F, 1, 0, 0xFF, 0xFF]) == steps16)
        let steps24: [Float] = [-1, 1 - 0x1p-23, 0x1p-23, -0x1p-23]
        #expect(Self.convert(.s24, [0, 0, 0x80, 0xFF, 0xFF, 0x7F, 1, 0, 0, 0xFF, 0xFF, 0xFF]) == steps24)
        // The highest byte is not part of the sample.
        let wide: [UInt8] = [0, 0, 0x80, 0xAA, 0xFF, 0xFF, 0x7F, 0x55, 1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0]
        #expect(Self.convert(.s24le32, wide) == steps24)
        #expect(Self.convert(.s32, [0, 0, 0, 0x80, 0, 0, 0, 0x40, 0, 1, 0, 0]) == [-1, 0.5, 0x1p-23])
    }

    @Test func `floating-point samples pass, and what is not a number becomes silence`() {
        let values: [Float] = [0.25, -1.5, .nan, .infinity, -.infinity]
        let bytes = values.flatMap { value in withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) } }
        #expect(Self.convert(.f32, bytes) == [0.25, -1.5, 0, 0, 0])
    }

    @Test(arguments: SampleLayout.allCases) func `neither side is overrun`(_ format: SampleLayout) {
        let bytes = [UInt8](repeating: 0, count: format.bytes * 3 + format.bytes - 1)
        #expect(Self.convert(format, bytes).count == 3)
        #expect(Self.convert(format, bytes, room: 2).count == 2)
        #expect(Self.convert(format, []).isEmpty)
    }
}
