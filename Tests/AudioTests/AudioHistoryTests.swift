import Core
import Foundation
import Synchronization
import Testing

@testable import Audio

struct AudioHistoryTests {
    /// A window in which each sample's value is its index in the stream.
    private func window(endingAt end: Int) -> [Float] {
        (end - AudioFormat.windowSamples..<end).map { $0 < 0 ? 0 : Float($0) }
    }

    @Test func `audio is kept for the length of the history`() {
        let history = AudioHistory()
        for block in 1...120 { history.add(window(endingAt: block * 1600).span) }
        #expect(history.count == 192_000)
        #expect(history.samples(100_000..<100_003) == [100_000, 100_001, 100_002])
        #expect(history.samples(159_000..<161_000) == (159_000..<161_000).map(Float.init), "over the end of the memory")
        // Samples older than ten seconds, and samples not yet written.
        #expect(history.samples(0..<10) == [])
        #expect(history.samples(191_999..<200_000) == [191_999])
        #expect(history.samples(0..<200_000).count == AudioHistory.seconds * 16_000)
    }

    @Test func `a source that can wait waits where a reader would lose samples`() {
        let history = AudioHistory()
        var blocks = 0
        func fill(upTo most: Int = 1000) -> Int {
            while !history.isFull, blocks < most {
                blocks += 1
                history.add(window(endingAt: blocks * 1600).span)
            }
            return history.count
        }
        #expect(fill(upTo: 150) == 240_000, "nobody reads")
        let (recording, clip) = (history.hold(from: 240_000), history.hold(from: 260_000))
        #expect(fill() == 400_000 && history.samples(240_000..<400_000).count == 160_000)
        history.move(recording, to: 400_000)
        #expect(fill() == 419_200 && history.samples(260_000..<260_001) == [260_000], "of the clip")
        history.move(clip, to: nil)
        #expect(fill() == 560_000)
        history.move(recording, to: nil)
        #expect(!history.isFull && fill(upTo: 400) == 640_000)
    }

    @Test(arguments: [1, 4, 9, 12])
    func `blocks that come while a reader holds it are caught up`(_ held: Int) {
        let history = AudioHistory()
        history.add(window(endingAt: 1600).span)
        // A reader holds the lock while another thread adds blocks.
        history.state.withLock { _ in
            let isDone = DispatchSemaphore(value: 0)
            Thread {
                for block in 2...held + 1 { history.add(window(endingAt: block * 1600).span) }
                isDone.signal()
            }.start()
            isDone.wait()
        }
        #expect(history.count == 1600)
        let end = (held + 2) * 1600
        history.add(window(endingAt: end).span)
        #expect(history.count == end)
        // Zeros stand for samples that left the window; all others are there.
        let heard = history.samples(1600..<end)
        let first = max(1600, end - AudioFormat.windowSamples)
        #expect(heard == (1600..<end).map { $0 < first ? 0 : Float($0) })
    }
}
