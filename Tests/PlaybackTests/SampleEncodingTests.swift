import Testing

@testable import Audio

struct SampleEncodingTests {
    @Test(arguments: SampleLayout.allCases) func `what is encoded decodes to the same, in all channels`(
        _ layout: SampleLayout
    ) {
        let samples: [Float] = [0, 0.5, -0.5, 0.25, -1, 2, -3, .nan, .infinity]
        let expected: [Float] = [0, 0.5, -0.5, 0.25, -1, 1, -1, 0, 1]
        let channels = 3
        var bytes = [UInt8](repeating: 0x55, count: samples.count * channels * layout.bytes)
        bytes.withUnsafeMutableBytes { layout.encode(samples.span, channels: channels, into: $0) }
        var decoded = [Float](repeating: 9, count: samples.count * channels)
        var span = decoded.mutableSpan
        layout.decode(bytes.span, into: &span)
        for (index, wanted) in expected.enumerated() {
            for channel in 0..<channels {
                // Full scale is one step below 1 in whole numbers.
                #expect(abs(decoded[index * channels + channel] - wanted) <= 0x1p-7, "\(samples[index])")
            }
            if wanted.magnitude < 1 { #expect(decoded[index * channels] == wanted) }
        }
    }

    @Test func `what finds no room is left out`() {
        var bytes = [UInt8](repeating: 0x55, count: 9)
        bytes.withUnsafeMutableBytes { SampleLayout.s16.encode([1, -1, 1].span, channels: 2, into: $0) }
        #expect(bytes == [0xFF, 0x7F, 0xFF, 0x7F, 0, 0x80, 0, 0x80, 0x55])
    }
}
