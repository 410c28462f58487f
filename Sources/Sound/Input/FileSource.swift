public import Audio
public import Core
private import Synchronization
private import System

/// A file that is played as if it came from a microphone: one block every 100 ms, and one second of silence at its end.
///
/// Unlike a microphone it waits for its reader: after a pause it goes on where it is.
public final class FileSource: AudioSource {
    private let ring: BlockRing
    private let state: Mutex<State>
    private let isOver = Atomic<Bool>(false)

    private struct State: ~Copyable {
        var windows: FileWindows
        /// When the next block has been played; nil before the first one is asked for.
        var due: Instant?
        var problem: AudioError?
    }

    /// - Throws: ``AudioError`` if the file cannot be opened or decoded.
    public init(path: String, mix: ChannelMix) throws(AudioError) {
        let windows = try FileWindows(FileStream(path: path, mix: mix))
        ring = windows.ring
        state = Mutex(State(windows: windows))
    }

    public func copyPlayed(to samples: inout [Float]) -> Bool { ring.copyPlayed(to: &samples) }

    public var lost: LostAudio { ring.lost }

    public var waits: Bool { true }

    public var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    public var problem: AudioError? { state.withLock { $0.problem } }

    public var progress: AudioProgress? {
        state.withLock { state in
            let length = state.windows.stream.expectedSeconds
            return AudioProgress(seconds: state.windows.stream.seconds, length: length > 0 ? length : nil)
        }
    }

    public func next(until time: Instant, _ body: (Span<Float>, AudioBlock) -> Void) -> Bool {
        let due = state.withLock { state -> Instant in
            let now = Clock.now
            // A reader that is late by more than a block paused the file.
            let due = max(state.due ?? now + AudioFormat.hopDuration, now - AudioFormat.hopDuration)
            state.due = due
            return due
        }
        guard !hasEnded else { return false }
        Clock.sleep(until: min(due, time))
        guard due <= time, state.withLock({ advance(&$0, due) }) else { return false }
        return ring.withWindow(body)
    }

    /// Moves the window on by one block; false at the end.
    private func advance(_ state: inout State, _ due: Instant) -> Bool {
        do throws(AudioError) {
            guard try state.windows.advance(time: due) else {
                isOver.store(true, ordering: .releasing)
                return false
            }
        } catch {
            // The silence follows what could be read.
            state.problem = error
            return advance(&state, due)
        }
        state.due = due + AudioFormat.hopDuration
        return true
    }
}
