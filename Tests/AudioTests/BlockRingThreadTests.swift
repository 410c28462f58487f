import Core
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Audio

/// Producer and consumer at the same time; run it with `--sanitize=thread` too.
@Suite(.serialized) struct BlockRingThreadTests {
    /// The consumer's results, handed over when its thread has ended.
    struct Findings {
        var read = 0
        var torn = 0
        var outOfOrder = 0
        var stale = 0
        var last: UInt64?
    }

    /// State that both threads share.
    final class Shared: Sendable {
        let arrived = Atomic<Int>(0)
        let done = Atomic<Int>(0)
        let findings = Mutex(Findings())
        let ended = DispatchSemaphore(value: 0)

        /// Waits until both threads have arrived.
        func meet() {
            arrived.add(1, ordering: .acquiringAndReleasing)
            while arrived.load(ordering: .acquiring) < 2 { sched_yield() }
        }
    }

    /// Samples at a stride: enough to notice a block overwritten half-way.
    static func check(_ window: Span<Float>, _ block: AudioBlock, _ findings: inout Findings) {
        findings.read += 1
        if let last = findings.last, block.sequence <= last { findings.outOfOrder += 1 }
        findings.last = block.sequence
        if block.time.nanoseconds != Int64(block.sequence) { findings.torn += 1 }
        for place in 0..<AudioFormat.windowHops {
            let age = AudioFormat.windowHops - 1 - place
            let expected = age < block.filled ? Float(Int(block.sequence) - age + 1) : 0
            for offset in stride(from: 0, to: AudioFormat.hopSamples, by: 533) {
                if window[place * AudioFormat.hopSamples + offset] != expected { findings.torn += 1 }
            }
        }
    }

    /// Runs both sides, each on its own thread; they start together.
    ///
    /// - Parameters:
    ///   - producerPause: Calls of `sched_yield` after each block, so that either side can be the faster one.
    ///   - consumerPause: Calls of `sched_yield` after each window.
    ///   - flushEvery: Blocks between two flushes by the producer; 0 for none.
    static func run(
        blocks: Int,
        producerPause: Int,
        consumerPause: Int,
        flushEvery: Int
    ) throws -> (Findings, BlockRing.Counts) {
        let ring = try BlockRing(minimumCapacity: 4)
        let shared = Shared()
        let producer = Thread {
            shared.meet()
            var samples = [Float](repeating: 0, count: AudioFormat.hopSamples)
            for number in 0..<blocks {
                samples.withUnsafeMutableBufferPointer { $0.update(repeating: Float(number + 1)) }
                ring.write(samples.span, time: Instant(nanoseconds: Int64(number)))
                if flushEvery > 0, number % flushEvery == flushEvery - 1 { ring.flush() }
                for _ in 0..<producerPause { sched_yield() }
            }
            shared.done.store(1, ordering: .releasing)
        }
        let consumer = Thread {
            shared.meet()
            var seen = Findings()
            while true {
                let ended = shared.done.load(ordering: .acquiring) > 0
                let found = ring.withWindow { window, block in check(window, block, &seen) }
                if ended, !found { break }
                for _ in 0..<(found ? consumerPause : 1) { sched_yield() }
            }
            shared.findings.withLock { $0 = seen }
            shared.ended.signal()
        }
        producer.start()
        consumer.start()
        shared.ended.wait()
        return (shared.findings.withLock { $0 }, ring.counts)
    }

    @Test(arguments: [(0, 0, 0), (1, 8, 0), (8, 0, 0), (2, 0, 7), (1, 4, 50)])
    func twoThreads(producerPause: Int, consumerPause: Int, flushEvery: Int) throws {
        let blocks = 6_000
        let (findings, counts) = try Self.run(
            blocks: blocks,
            producerPause: producerPause,
            consumerPause: consumerPause,
            flushEvery: flushEvery
        )
        #expect(findings.torn == 0)
        #expect(findings.outOfOrder == 0)
        #expect(counts.offered == UInt64(blocks))
        #expect(counts.read == UInt64(findings.read))
        #expect(counts.unread == 0)
        #expect(counts.offered == counts.read + counts.dropped + counts.flushed)
        print(
            "pauses \(producerPause)/\(consumerPause), flush \(flushEvery):",
            "read \(counts.read), dropped \(counts.dropped), flushed \(counts.flushed), underruns \(counts.underruns)"
        )
    }
}
