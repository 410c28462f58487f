import Audio
import Core
import TestSupport
import Testing

@testable import Wyoming

/// A client's audio in any format, as mono samples at 16 kHz.
struct PCMConverterTests {
    private func format(_ rate: Int, _ width: Int, _ channels: Int) -> PCMFormat {
        PCMFormat(WyomingEvent(rate: rate, width: width, channels: channels), else: .usual) ?? .usual
    }

    /// Converts bytes in pieces into rooms of this size, and drains the filters.
    private func convert(
        _ bytes: [UInt8],
        _ format: PCMFormat,
        piece: Int = .max,
        room: Int = 1600
    ) throws -> [Float] {
        var converter = PCMConverter()
        try converter.begin(format)
        var samples: [Float] = []
        var memory = [Float](repeating: 0, count: room)
        var rest = bytes[...]
        while true {
            let part = rest.prefix(piece)
            var (used, written) = (0, 0)
            try part.withUnsafeBufferPointer { part in
                try memory.withUnsafeMutableBufferPointer { memory in
                    (used, written) = try converter.convert(part, into: memory)
                }
            }
            samples += memory[..<written]
            rest = rest.dropFirst(used)
            if used == 0, written == 0 { break }
        }
        #expect(rest.isEmpty)
        while true {
            let written = try memory.withUnsafeMutableBufferPointer { try converter.drain(into: $0) }
            samples += memory[..<written]
            if written == 0 { break }
        }
        return samples
    }

    @Test func `a client's 16 bits in three or four bytes are read as 16`() throws {
        let voice = try Voices.samples("Front_Left").map { Int32(Int16(sample: $0 * 0.2)) }
        let expected = voice.map { Float($0) * 0x1p-15 }
        for (width, shift) in [(3, 0), (4, 0), (4, 8), (4, 16), (2, 0)] {
            let bytes = voice.flatMap { sample in
                (0..<width).map { UInt8(truncatingIfNeeded: (sample << shift) >> Int32(8 * $0)) }
            }
            for piece in [2047, .max] {
                let samples = try convert(bytes, format(16_000, width, 1), piece: piece)
                #expect(samples == expected, "\(width) bytes, shifted by \(shift)")
            }
        }
    }

    @Test func `one to four bytes a sample, with a sign`() throws {
        let expected: [Float] = [0, 0.5, -0.5, -1, 127 / 128]
        let one: [UInt8] = [0, 64, 0xC0, 0x80, 0x7F]
        for width in 1...4 {
            // The most significant byte alone is not 0.
            let bytes = one.flatMap { [UInt8](repeating: 0, count: width - 1) + [$0] }
            #expect(try convert(bytes, format(16_000, width, 1)) == expected, "\(width) bytes")
        }
        // The lowest bits count too.
        #expect(try convert([1, 0], format(16_000, 2, 1)) == [0x1p-15])
        #expect(try convert([1, 0, 0], format(16_000, 3, 1)) == [0x1p-23])
        #expect(try convert([0xFF, 0xFF, 0xFF], format(16_000, 3, 1)) == [-0x1p-23])
        #expect(try convert([0, 1, 0, 0], format(16_000, 4, 1)) == [0x1p-23])
    }

    @Test func `channels are mixed to their mean`() throws {
        // 0.5 and −0.25; then −1 and 0.
        let bytes: [UInt8] = [0, 64, 0, 0xE0, 0, 0x80, 0, 0]
        #expect(try convert(bytes, format(16_000, 2, 2)) == [0.125, -0.5])
        let many = (0..<64).flatMap { _ in [UInt8](arrayLiteral: 0, 32) }
        #expect(try convert(many, format(16_000, 2, 64)) == [0.25])
    }

    @Test(arguments: [(16_000, 2, 1), (16_000, 3, 2), (48_000, 2, 2), (22_050, 4, 1), (8_000, 1, 3), (44_100, 2, 1)])
    func `the samples are the same for every size of pieces and rooms`(rate: Int, width: Int, channels: Int) throws {
        var random = SplitMix(seed: 5)
        let frames = rate / 10
        let bytes = (0..<frames * width * channels).map { _ in UInt8(truncatingIfNeeded: Int(random.next() >> 11)) }
        let whole = try convert(bytes, format(rate, width, channels))
        #expect(whole.count == 1600)
        for (piece, room) in [(1, 1600), (7, 3), (320, 1), (1 << 20, 1), (13, 1600), (1 << 20, 401)] {
            #expect(
                try convert(bytes, format(rate, width, channels), piece: piece, room: room) == whole,
                "pieces of \(piece), rooms of \(room)"
            )
        }
    }

    @Test func `an incomplete frame waits for the next piece`() throws {
        var converter = PCMConverter()
        try converter.begin(format(16_000, 2, 1))
        var room = [Float](repeating: 9, count: 4)
        func give(_ bytes: [UInt8], _ converter: inout PCMConverter) throws -> (used: Int, written: Int) {
            try bytes.withUnsafeBufferPointer { bytes in
                try room.withUnsafeMutableBufferPointer { try converter.convert(bytes, into: $0) }
            }
        }
        #expect(try give([0, 64, 7], &converter) == (3, 1))
        #expect(try give([0xC0], &converter) == (1, 1))
        #expect(room[0] == Float(Int16(bitPattern: 0xC007)) * 0x1p-15)
    }

    @Test func `formats outside the limits are refused`() {
        for (rate, width, channels) in [
            (7999, 2, 1), (192_001, 2, 1), (0, 2, 1), (-16_000, 2, 1), (16_000, 0, 1), (16_000, 5, 1), (16_000, 2, 0),
            (16_000, 2, 65), (.max, .max, .max),
        ] {
            let event = WyomingEvent(rate: rate, width: width, channels: channels)
            #expect(PCMFormat(event, else: .usual) == nil, "\(rate) \(width) \(channels)")
        }
        #expect(PCMFormat(WyomingEvent(), else: .usual) == .usual)
    }

    @Test func `a filter is made for the first sample, and few rates have one`() throws {
        var converter = PCMConverter()
        var room = [Float](repeating: 0, count: 4)
        func give(_ bytes: [UInt8], _ converter: inout PCMConverter) throws {
            try bytes.withUnsafeBufferPointer { bytes in
                try room.withUnsafeMutableBufferPointer { _ = try converter.convert(bytes, into: $0) }
            }
        }
        for rate in [8_000, 9_000, 48_000, 44_100, 32_000] {
            let (accepts, needs): (Bool, Bool)
            accepts = converter.accepts(format(rate, 2, 1))
            try converter.begin(format(rate, 2, 1))
            needs = converter.needsFilter
            #expect(accepts && needs)
        }
        // Without a sample none was made.
        for rate in [8_000, 9_000, 48_000, 44_100] {
            try converter.begin(format(rate, 2, 1))
            try give([0, 0], &converter)
            let needs = converter.needsFilter
            #expect(!needs)
        }
        let accepted = [32_000, 9_000, 16_000].filter { converter.accepts(format($0, 2, 1)) }
        #expect(accepted == [9_000, 16_000])
    }
}
