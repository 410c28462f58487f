import TestSupport
import Testing

@testable import Audio

struct ChannelCancellationTests {
    /// The result for frames that a function gives, from a voice and independent noises.
    private static func result(_ mix: ChannelMix, _ frame: (Float, Float) -> [Float]) -> Bool? {
        var random = SplitMix(seed: 3)
        let frames = (0..<4_800).map { _ in
            frame(Float.random(in: -0.2...0.2, using: &random), Float.random(in: -0.2...0.2, using: &random))
        }
        let count = frames[0].count
        var mono = [Float](repeating: 0, count: frames.count)
        var room = mono.mutableSpan
        let all = frames.flatMap { $0 }
        mix.mix(all.span, channels: count, into: &room)
        var cancellation = ChannelCancellation()
        // In parts, as a device gives them.
        for start in stride(from: 0, to: frames.count, by: 480) {
            let part = Array(all[start * count..<(start + 480) * count])
            let mixed = Array(mono[start..<start + 480])
            cancellation.add(part.span, channels: count, mixed: mixed.span, mix)
        }
        return cancellation.result
    }

    @Test func `opposite channels cancel, also if they are not equally loud`() {
        #expect(Self.result(.mix) { a, _ in [a, -a] } == true)
        #expect(Self.result(.mix) { a, _ in [a, -0.7 * a] } == true)
        #expect(Self.result(.mix) { a, b in [a + b / 50, -a] } == true)
        #expect(Self.result(.mix) { a, b in [a, -a, b, -b] } == true)
    }

    @Test func `other channels do not`() {
        #expect(Self.result(.mix) { a, _ in [a, a] } == false)
        #expect(Self.result(.mix) { a, b in [a, b] } == false)
        #expect(Self.result(.mix) { a, _ in [a, 0] } == false)
        #expect(Self.result(.mix) { a, b in [a, b, a - b, 0, a, b, b, a + b] } == false)
        // The signs of eight independent channels, as their number would do.
        #expect(Self.result(.mix) { a, b in [a, b, -a / 2, b / 2, a / 3, -b / 3, a, b] } == false)
    }

    @Test func `one channel, silence and a channel that is not mixed say nothing`() {
        #expect(Self.result(.channel(0)) { a, _ in [a, -a] } == nil)
        #expect(Self.result(.mix) { a, _ in [a] } == nil)
        #expect(Self.result(.mix) { _, _ in [0, 0] } == nil)
        #expect(Self.result(.mix) { a, _ in [a / 1_000, -a / 1_000] } == nil)
        let pair = ChannelSet([0, 1]).map { ChannelMix.channels($0) } ?? .mix
        #expect(Self.result(pair) { a, b in [a, b, -a] } == false)
    }
}
