public import Audio
public import Capture
public import Core
import Glibc
import Synchronization
import System

/// A source of live audio: a microphone, or a file that is played as if it came from one.
public protocol AudioSource: Sendable {
    /// Waits for the next block of 1600 samples, and passes `body` the window (one second, 16000 samples) that ends
    /// with it; see ``Microphone/nextBlock(until:_:)``.
    ///
    /// - Parameter time: the deadline, on the monotonic clock.
    /// - Returns: false if no block came before the deadline, or if the source has ended.
    func next(until time: Instant, _ body: (Span<Float>, AudioBlock) -> Void) -> Bool

    /// Whether the source will give no more audio.
    var hasEnded: Bool { get }

    /// The error that ended reading early; nil if there was none.
    var problem: AudioError? { get }

    /// How far a file or a stream was played; nil for a microphone.
    var progress: AudioProgress? { get }
}

/// A live source has neither.
extension AudioSource {
    public var problem: AudioError? { nil }
    public var progress: AudioProgress? { nil }
}

/// How far a file or a stream was played.
public struct AudioProgress: Equatable, Sendable {
    public var seconds: Double
    /// Seconds of all of it; nil if that is not known.
    public var length: Double?

    public init(seconds: Double, length: Double?) {
        self.seconds = seconds
        self.length = length
    }
}

extension Microphone: AudioSource {
    public func next(until time: Instant, _ body: (Span<Float>, AudioBlock) -> Void) -> Bool {
        nextBlock(until: time, body)
    }

    public var hasEnded: Bool { isStopped }
}

/// A file that is played as if it came from a microphone: one block every 100 ms, and one second of silence at its end.
public final class FileSource: AudioSource {
    private let ring: BlockRing
    private let state: Mutex<State>
    private let isOver = Atomic<Bool>(false)

    private struct State: ~Copyable {
        var stream: FileWindows
        var start: Instant?
        /// Blocks played so far.
        var count = 0
        var problem: AudioError?
    }

    /// - Throws: ``AudioError`` if the file cannot be opened or decoded.
    public init(path: String, mix: ChannelMix) throws(AudioError) {
        let stream = try FileWindows(FileStream(path: path, mix: mix))
        ring = stream.ring
        state = Mutex(State(stream: stream))
    }

    public var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    public var problem: AudioError? { state.withLock { $0.problem } }

    public var progress: AudioProgress? {
        state.withLock { state in
            let length = state.stream.expectedSeconds
            return AudioProgress(seconds: state.stream.seconds, length: length > 0 ? length : nil)
        }
    }

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

    /// Moves the window on by one block; false at the end.
    private func advance(_ state: inout State, _ due: Instant) -> Bool {
        do throws(AudioError) {
            guard try state.stream.advance(time: due) else {
                isOver.store(true, ordering: .releasing)
                return false
            }
        } catch {
            // The silence follows what could be read.
            state.problem = error
            return advance(&state, due)
        }
        state.count += 1
        return true
    }
}
