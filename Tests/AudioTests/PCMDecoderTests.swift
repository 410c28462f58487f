import TestSupport
import Testing

@testable import Audio

/// The one decoder of PCM: layouts, scales, parts of any size, and samples that are not usable numbers.
struct PCMDecoderTests {
    /// All mono samples of bytes that come in parts, and whether one was not usable.
    private static func decode(
        _ bytes: [UInt8],
        _ layout: SampleLayout,
        channels: Int = 1,
        mix: ChannelMix = .mix,
        part: Int = .max,
        room: Int = 100
    ) -> (samples: [Float], isUnusable: Bool) {
        var decoder = PCMDecoder(layout, channels: channels, mix: mix)
        var (samples, memory): ([Float], [Float]) = ([], [Float](repeating: 9, count: room))
        var rest = bytes[...]
        while !rest.isEmpty {
            var piece = rest.prefix(part)
            while !piece.isEmpty {
                var span = memory.mutableSpan
                let progress = decoder.decode(piece.span, into: &span)
                samples += memory[..<progress.frames]
                if progress.isUnusable { return (samples, true) }
                piece = piece.dropFirst(progress.bytes)
                rest = rest.dropFirst(progress.bytes)
            }
        }
        return (samples, false)
    }

    /// −½, ¼ and the smallest step of a layout.
    private static func bytes(_ layout: SampleLayout) -> [UInt8] {
        switch layout {
        case .u8: [64, 160, 129]
        case .s8: [0xC0, 32, 1]
        case .s16: [0, 0xC0, 0, 0x20, 1, 0]
        case .s24: [0, 0, 0xC0, 0, 0, 0x20, 1, 0, 0]
        // The highest byte holds the sign, zero, or anything.
        case .s24le32: [0, 0, 0xC0, 0xFF, 0, 0, 0x20, 0, 1, 0, 0, 0x55]
        case .s32: [0, 0, 0, 0xC0, 0, 0, 0, 0x20, 1, 0, 0, 0]
        case .f32: [Float(-0.5), 0.25, 0x1p-30].flatMap { withUnsafeBytes(of: $0.bitPattern.littleEndian, Array.init) }
        case .f64: [-0.5, 0.25, 0x1p-30].flatMap { withUnsafeBytes(of: $0.bitPattern.littleEndian, Array.init) }
        }
    }

    private static func step(_ layout: SampleLayout) -> Float {
        switch layout {
        case .u8, .s8: 0x1p-7
        case .s16: 0x1p-15
        case .s24, .s24le32: 0x1p-23
        case .s32: 0x1p-31
        case .f32, .f64: 0x1p-30
        }
    }

    @Test(arguments: SampleLayout.allCases) func `each layout has its scale`(_ layout: SampleLayout) {
        let samples = [-0.5, 0.25, Self.step(layout)]
        #expect(Self.decode(Self.bytes(layout), layout).samples == samples)
    }

    @Test(arguments: SampleLayout.allCases)
    func `what is kept back comes out at the end, and before what is not usable`(
        _ layout: SampleLayout
    ) {
        for part in [1, 7, 4096] {
            var decoder = PCMDecoder(layout, channels: 1, mix: .mix, rate: 8000)
            var (samples, memory): ([Float], [Float]) = ([], [Float](repeating: 0, count: 5))
            func take(_ bytes: ArraySlice<UInt8>) -> Bool {
                var rest = bytes
                while true {
                    var span = memory.mutableSpan
                    let progress = decoder.decode(rest.span, into: &span)
                    samples += memory[..<progress.frames]
                    rest = rest.dropFirst(progress.bytes)
                    if progress.isUnusable { return true }
                    if progress.bytes == 0, progress.frames == 0 { return false }
                }
            }
            let bytes = Self.bytes(layout) + Self.bytes(layout)
            for start in stride(from: 0, to: bytes.count, by: part) {
                #expect(!take(bytes[start..<min(bytes.count, start + part)]))
            }
            #expect(samples.count + decoder.keptBack == 6)
            if layout == .f32 {
                #expect(take([0, 0, 0xC0, 0x7F]))
            } else {
                decoder.finish()
                #expect(!take([]))
            }
            let expected = [-0.5, 0.25, Self.step(layout)]
            #expect(samples == expected + expected && decoder.keptBack == 0)
        }
    }

    @Test(arguments: SampleLayout.allCases) func `a part may end within a sample or a frame`(_ layout: SampleLayout) {
        var random = SplitMix(seed: 3)
        var bytes: [UInt8] = []
        for _ in 0..<3 * 700 { bytes += Self.bytes(layout).shuffledSamples(layout.bytes, &random) }
        for (channels, mix) in [(1, ChannelMix.mix), (2, .mix), (3, .channel(2)), (16, .channel(15))] {
            let whole = Self.decode(bytes, layout, channels: channels, mix: mix)
            #expect(whole.samples.count == bytes.count / layout.bytes / channels && !whole.isUnusable)
            for (part, room) in [(1, 1), (2, 100), (7, 3), (1023, 1000), (2047, 100)] {
                let parts = Self.decode(bytes, layout, channels: channels, mix: mix, part: part, room: room)
                #expect(parts.samples == whole.samples, "\(channels) channels, parts of \(part)")
            }
        }
    }

    @Test func `the bytes of an incomplete last frame wait for the next part`() {
        var decoder = PCMDecoder(.s24, channels: 2, mix: .mix)
        var room = [Float](repeating: 9, count: 4)
        var span = room.mutableSpan
        #expect(decoder.decode([UInt8](repeating: 0, count: 11).span, into: &span).frames == 1)
        #expect(decoder.waiting == 5)
        decoder.reset()
        #expect(decoder.waiting == 0)
    }

    @Test(arguments: [Float.nan, .infinity, -.infinity, 0x1.000002p31])
    func `a sample that is not a usable number ends the audio, after what is before it`(_ value: Float) {
        for channels in [1, 2] {
            for layout in [SampleLayout.f32, .f64] {
                var floats = (0..<40).map { Float($0) / 64 }
                floats[31] = value
                let bytes = floats.flatMap { number in
                    layout == .f32
                        ? withUnsafeBytes(of: number.bitPattern.littleEndian, Array.init)
                        : withUnsafeBytes(of: Double(number).bitPattern.littleEndian, Array.init)
                }
                for part in [1, 3, 400] {
                    let (samples, isUnusable) = Self.decode(bytes, layout, channels: channels, part: part)
                    #expect(isUnusable && samples.count == 31 / channels, "\(layout), parts of \(part)")
                }
            }
        }
    }

    @Test func `a layout has a name of its own, and ALSA's`() {
        for layout in SampleLayout.allCases { #expect(SampleLayout(name: layout.rawValue) == layout) }
        for (name, layout) in [
            ("U8", SampleLayout.u8), ("S8", .s8), ("S16_LE", .s16), ("S24_LE", .s24le32), ("S24_3LE", .s24),
            ("S32_LE", .s32), ("FLOAT_LE", .f32), ("FLOAT64_LE", .f64),
        ] {
            #expect(SampleLayout(name: name) == layout, "\(name)")
        }
        #expect(SampleLayout(name: "s16be") == nil && SampleLayout(name: "") == nil)
    }
}

extension [UInt8] {
    /// The samples of a few bytes each, in another order.
    fileprivate func shuffledSamples(_ bytes: Int, _ random: inout SplitMix) -> [UInt8] {
        stride(from: 0, to: count, by: bytes).map { Array(self[$0..<$0 + bytes]) }.shuffled(using: &random).flatMap {
            $0
        }
    }
}
