import Core
package import Synchronization

/// The last 10 s of audio that the detector got, for clips, recordings and the live page.
///
/// The detector's thread writes and never waits for a reader: while a reader copies, it writes nothing, and takes the
/// missing blocks from the window of a later hop.
public final class AudioHistory: Sendable {
    /// In hertz.
    public static let sampleRate = AudioFormat.sampleRate
    /// Seconds of audio that are kept.
    public static let seconds = 10
    private static let length = seconds * sampleRate

    package struct State {
        fileprivate var samples = [Float](repeating: 0, count: AudioHistory.length)
        /// Samples written since the beginning.
        fileprivate var count = 0
    }

    package let state = Mutex(State())
    /// Blocks that could not be written yet; used only by the detector's thread.
    private let waiting = Atomic<Int>(0)

    /// Where readers are that must lose nothing; the oldest sample that one of them needs, `Int.max` for none.
    private let holds = Mutex((next: 0, places: [Int: Int]()))
    private let oldest = Atomic<Int>(.max)

    public init() {}

    /// Keeps samples from this one on, where the source can wait; see ``isFull``. Any thread.
    ///
    /// - Returns: a number for ``move(_:to:)``.
    public func hold(from sample: Int) -> Int {
        holds.withLock { holds in
            holds.next += 1
            holds.places[holds.next] = sample
            oldest.store(holds.places.values.min() ?? .max, ordering: .releasing)
            return holds.next
        }
    }

    /// Keeps samples from this one on, or none any more. Any thread.
    public func move(_ hold: Int, to sample: Int?) {
        holds.withLock { holds in
            holds.places[hold] = sample
            oldest.store(holds.places.values.min() ?? .max, ordering: .releasing)
        }
    }

    /// Whether the next block would take the place of a sample that is kept. A source that can wait is to wait then. Detector's thread.
    public var isFull: Bool {
        let oldest = oldest.load(ordering: .acquiring)
        guard oldest < .max else { return false }
        // Blocks that wait for a reader come with the next one.
        let coming = (waiting.load(ordering: .relaxed) + 1) * AudioFormat.hopSamples
        return count + coming - max(0, oldest) > Self.length
    }

    /// Appends the newest block of a window of 16000 samples. Detector's thread only; never allocates or waits.
    public func add(_ window: Span<Float>) {
        let blocks = waiting.load(ordering: .relaxed) + 1
        let done: Void? = state.withLockIfAvailable { state in
            // If a reader held the lock for longer than a window, zeros stand for the lost blocks.
            for index in (window.count - blocks * AudioFormat.hopSamples)..<window.count {
                state.samples[state.count % AudioHistory.length] = index < 0 ? 0 : window[index]
                state.count += 1
            }
        }
        waiting.store(done == nil ? blocks : 0, ordering: .relaxed)
    }

    /// Samples appended since the beginning.
    public var count: Int { state.withLock { $0.count } }

    /// Samples by their index since the beginning. The result leaves out samples that are too old or not yet there.
    public func samples(_ range: Range<Int>) -> [Float] {
        state.withLock { state in
            let range = range.clamped(to: max(0, state.count - AudioHistory.length)..<state.count)
            // At most two pieces, copied as a whole: the detector's thread writes nothing meanwhile.
            let first = range.lowerBound % AudioHistory.length
            let count = min(range.count, AudioHistory.length - first)
            return Array(state.samples[first..<first + count]) + state.samples[..<(range.count - count)]
        }
    }
}
