public import Audio
public import Capture
import Glibc
import Synchronization

/// A file that is played as if it came from a microphone: a block every 100 ms, and a second of quiet at its end.
public final class LiveFile: AudioSource {
    private let ring: BlockRing
    private let state: Mutex<State>
    private let isOver = Atomic<Bool>(false)

    private struct State: ~Copyable {
        var blocks: FileBlocks
        var block = [Float](repeating: 0, count: BlockRing.blockLength)
        var start: Int64?
        var count: Int64 = 0
        /// Blocks of quiet that follow the file.
        var quiet = BlockRing.windowBlocks
        var problem: AudioError?
    }

    /// - Throws: what opening a file throws.
    public init(path: String, mix: ChannelMix) throws(AudioError) {
        let blocks = try FileBlocks(path: path, mix: mix)
        ring = try BlockRing(minimumCapacity: 1)
        state = Mutex(State(blocks: blocks))
    }

    public var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    /// What ended reading early.
    public var problem: AudioError? { state.withLock { $0.problem } }

    public func next(until time: Int64, _ body: (Span<Float>, Microphone.Block) -> Void) -> Bool {
        let due = state.withLock { state -> Int64 in
            let start = state.start ?? LiveClock.now
            state.start = start
            return start + (state.count + 1) * LiveClock.hop
        }
        guard !hasEnded else { return false }
        LiveClock.sleep(until: min(due, time))
        guard due <= time, state.withLock({ fill(&$0, due) }) else { return false }
        return ring.withWindow { window, block in
            body(window, .init(time: due, sequence: block.sequence, continues: block.filled > 1, filled: block.filled))
        }
    }

    /// Puts the next block into the ring; false at the end of all.
    private func fill(_ state: inout State, _ due: Int64) -> Bool {
        // A span of a property would hold all of the state.
        var block: [Float] = []
        swap(&block, &state.block)
        defer { swap(&block, &state.block) }
        var count: Int?
        do throws(AudioError) {
            var span = block.mutableSpan
            count = try state.blocks.next(into: &span)
        } catch {
            state.problem = error
        }
        if count == nil {
            guard state.quiet > 0 else {
                isOver.store(true, ordering: .releasing)
                return false
            }
            state.quiet -= 1
            for index in block.indices { block[index] = 0 }
        }
        state.count += 1
        ring.write(block.span, time: due)
        return true
    }
}
