import Core
import Testing

@testable import Audio

@Suite struct BlockRingTests {
    /// A block whose samples are all its number plus 1.
    static func block(_ number: Int) -> [Float] {
        [Float](repeating: Float(number + 1), count: AudioFormat.hopSamples)
    }

    static func write(_ numbers: Range<Int>, to ring: BlockRing) {
        for number in numbers {
            ring.write(block(number).span, time: Instant(nanoseconds: Int64(number) * 100_000_000))
        }
    }

    /// Reads the next window; returns one sample per block, after checking that first and last are equal.
    static func read(_ ring: BlockRing) -> (block: AudioBlock, window: [Float])? {
        var result: (AudioBlock, [Float])?
        let found = ring.withWindow { window, block in
            var values: [Float] = []
            for place in 0..<AudioFormat.windowHops {
                let first = window[place * AudioFormat.hopSamples]
                let last = window[(place + 1) * AudioFormat.hopSamples - 1]
                values.append(first == last ? first : .nan)
            }
            result = (block, values)
        }
        #expect(found == (result != nil))
        return result.map { (block: $0.0, window: $0.1) }
    }

    @Test func windowSlides() throws {
        let ring = try BlockRing()
        for number in 0..<200 {
            Self.write(number..<number + 1, to: ring)
            let (block, window) = try #require(Self.read(ring))
            #expect(block.sequence == UInt64(number))
            #expect(block.time.nanoseconds == Int64(number) * 100_000_000)
            #expect(block.filled == min(10, number + 1))
            let blocks: [Float] = (number - 9...number).map { Float(max(0, $0 + 1)) }
            #expect(window == blocks)
        }
        #expect(Self.read(ring) == nil)
        #expect(ring.counts == .init(offered: 200, read: 200, dropped: 0, flushed: 0, unread: 0, underruns: 1))
    }

    @Test func `what was played comes with its block, and only where it is known`() throws {
        let ring = try BlockRing(minimumCapacity: 3, keepsPlayed: true)
        for number in 0..<30 {
            let played = number % 3 == 2 ? [] : Self.block(100 + number)
            ring.write(Self.block(number).span, time: Instant(nanoseconds: 0), played: played.span)
            var copy = Self.block(-1)
            _ = ring.withWindow { _, _ in #expect(ring.copyPlayed(to: &copy) == !played.isEmpty) }
            #expect(copy == (played.isEmpty ? Self.block(-1) : played))
        }
        let without = try BlockRing(minimumCapacity: 3)
        without.write(Self.block(0).span, time: Instant(nanoseconds: 0), played: Self.block(1).span)
        var copy = Self.block(-1)
        _ = without.withWindow { _, _ in #expect(!without.copyPlayed(to: &copy)) }
    }

    @Test func fullRingDropsTheOldest() throws {
        let ring = try BlockRing(minimumCapacity: 5)
        let count = ring.capacity + 3
        Self.write(0..<count, to: ring)
        #expect(ring.counts.dropped == 3)
        #expect(ring.counts.unread == UInt64(ring.capacity))
        let (block, window) = try #require(Self.read(ring))
        #expect(block.sequence == 3, "the gap shows in the sequence")
        #expect(window == [0, 0, 0, 0, 0, 0, 1, 2, 3, 4], "audio of dropped blocks is still in the window")
        #expect(block.filled == 4)
    }

    @Test func heldWindowIsNeverOverwritten() throws {
        let ring = try BlockRing(minimumCapacity: 5)
        for number in 0..<20 {
            Self.write(number..<number + 1, to: ring)
            _ = Self.read(ring)
        }
        Self.write(20..<21, to: ring)
        // While block 20 is held, the ring takes as many blocks as fit and drops the five after them.
        let end = 20 + ring.capacity
        let found = ring.withWindow { window, block in
            #expect(block.sequence == 20)
            Self.write(21..<end + 5, to: ring)
            for place in 0..<AudioFormat.windowHops {
                let start = place * AudioFormat.hopSamples
                #expect(window[start] == Float(place + 12))
                #expect(window[start + AudioFormat.hopSamples - 1] == Float(place + 12))
            }
        }
        #expect(found)
        #expect(ring.counts.dropped == 5)
        Self.write(end + 5..<end + 6, to: ring)
        var last: (block: AudioBlock, window: [Float])?
        while let next = Self.read(ring) { last = next }
        let (block, window) = try #require(last)
        #expect(block.sequence == UInt64(end + 5))
        #expect(block.filled == 1, "a window never reaches across a hole")
        #expect(window == [0, 0, 0, 0, 0, 0, 0, 0, 0, Float(end + 6)])
    }

    @Test func flushForgets() throws {
        let ring = try BlockRing()
        Self.write(0..<15, to: ring)
        for _ in 0..<12 { _ = Self.read(ring) }
        ring.flush()
        #expect(Self.read(ring) == nil, "unread blocks are stale")
        #expect(ring.counts.flushed == 3)
        Self.write(15..<17, to: ring)
        let first = try #require(Self.read(ring))
        #expect(first.block.sequence == 15)
        #expect(first.block.filled == 1)
        #expect(first.window == [0, 0, 0, 0, 0, 0, 0, 0, 0, 16])
        let second = try #require(Self.read(ring))
        #expect(second.window == [0, 0, 0, 0, 0, 0, 0, 0, 16, 17])
        #expect(ring.counts == .init(offered: 17, read: 14, dropped: 0, flushed: 3, unread: 0, underruns: 1))
    }

    @Test func errorsReleaseTheWindow() throws {
        struct Stop: Error {}
        let ring = try BlockRing()
        Self.write(0..<2, to: ring)
        #expect(throws: Stop.self) { _ = try ring.withWindow { _, _ throws(Stop) in throw Stop() } }
        #expect(Self.read(ring)?.block.sequence == 1)
    }

    @Test func refusesSenselessCapacity() {
        for capacity in [0, -1, 100_001, .max] {
            let error = #expect(throws: AudioError.self) { _ = try BlockRing(minimumCapacity: capacity) }
            #expect(error == .memory)
        }
    }
}
