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
