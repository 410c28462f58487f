import Synchronization
import System
import Testing

struct PublishedTests {
    private struct Pair: BitwiseCopyable, Sendable {
        var up: Int64
        var flags: UInt8
        var down: Int64?
    }

    private final class Shared: Sendable {
        let published = Published(Pair(up: 0, flags: 0, down: 0))
        let isDone = Atomic<Bool>(false)
    }

    @Test func `a reader never sees parts of two values, and at the end the last one`() throws {
        let shared = Shared()
        let count: Int64 = 200_000
        func same(_ error: SystemError) -> SystemError { error }
        let thread = try SystemThread(name: "test-writer", stackSize: 512 << 10, or: same) {
            for number in 1...count {
                shared.published.set(Pair(up: number, flags: UInt8(truncatingIfNeeded: number), down: -number))
            }
            shared.isDone.store(true, ordering: .releasing)
        }
        var (last, torn): (Int64, Int) = (0, 0)
        while !shared.isDone.load(ordering: .acquiring) {
            let value = shared.published.value
            let isWhole = value.down == -value.up && value.flags == UInt8(truncatingIfNeeded: value.up)
            if !isWhole || value.up < last { torn += 1 }
            last = value.up
        }
        thread.join()
        #expect(torn == 0 && shared.published.value.up == count && shared.published.value.down == -count)
    }
}
