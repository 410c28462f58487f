public import Audio
public import Capture
public import Core
import Glibc
import Synchronization
import System

/// Where live audio comes from: a microphone, or a file that is played as if it came from one.
public protocol AudioSource: Sendable {
    /// Waits for the next block and shows the second of audio that ends with it; see ``Microphone/nextBlock(until:_:)``.
    ///
    /// - Parameter time: when to give up, on the monotonic clock.
    /// - Returns: false if the time came first, or if there is no more.
    func next(until time: Instant, _ body: (Span<Float>, AudioBlock) -> Void) -> Bool

    /// Whether there will be no more audio, ever.
    var hasEnded: Bool { get }
}

extension Microphone: AudioSource {
    public func next(until time: Instant, _ body: (Span<Float>, AudioBlock) -> Void) -> Bool {
        nextBlock(until: time, body)
    }

    public var hasEnded: Bool { isStopped }
}

/// A file that is played as if it came from a microphone: a block every 100 ms, and a second of quiet at its end.
public final class FileSource: AudioSource {
    private let ring: BlockRing
    private let state: Mutex<State>
    private let isOver = Atomic<Bool>(false)

    private struct State: ~Copyable {
        var stream: FileStream
        var start: Instant?
        /// Blocks so far.
        var count = 0
        var problem: AudioError?
    }

    /// - Throws: what opening a file throws.
    public init(path: String, mix: ChannelMix) throws(AudioError) {
        let stream = try FileStream(path: path, mix: mix)
        ring = stream.ring
        state = Mutex(State(stream: stream))
    }

    public var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    /// What ended reading early.
    public var problem: AudioError? { state.withLock { $0.problem } }

    public func next(until time: Instant, _ body: (Span<Float>, AudioBlock) -> Void) -> Bool {
        let due = state.withLock { state -> Instant in
            let start = state.start ?? Clock.now
            state.start = start
            return start + AudioFormat.hopDuration * (state.count + 1)
        }
        guard !hasEnded else { return false }
        Clock.sleep(until: min(due, time))
        guard due <= time, state.withLock({ advance(&$0, due) }) else { return false }
        return ring.withWindow(body)
    }

    /// Moves the window one block on; false at the end of all.
    private func advance(_ state: inout State, _ due: Instant) -> Bool {
        do throws(AudioError) {
            guard try state.stream.advance(time: due) else {
                isOver.store(true, ordering: .releasing)
                return false
            }
        } catch {
            // The quiet comes after what could be read.
            state.problem = error
            return advance(&state, due)
        }
        state.count += 1
        return true
    }
}
