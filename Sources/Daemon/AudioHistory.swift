import Audio
import Core
import Synchronization

/// The last seconds of what the detector heard, for whoever wants to keep a piece of it.
///
/// The detector's thread never waits for a reader: while one copies, the new blocks are caught up from the window of
/// the next hop.
public final class AudioHistory: Sendable {
    /// Seconds that are kept.
    public static let seconds = 8
    private static let length = seconds * AudioFormat.sampleRate

    struct State {
        fileprivate var samples = [Float](repeating: 0, count: AudioHistory.length)
        /// Samples written since the beginning.
        fileprivate var count = 0
    }

    let state = Mutex(State())
    /// The detector's own: blocks it could not write yet.
    private let waiting = Atomic<Int>(0)

    public init() {}

    /// Takes in the newest block of a window. Called on the detector's thread; allocates nothing and never waits.
    func add(_ window: Span<Float>) {
        let blocks = waiting.load(ordering: .relaxed) + 1
        let done: Void? = state.withLockIfAvailable { state in
            // Where a reader held it for longer than the window, silence keeps the place of what was missed.
            for index in (window.count - blocks * AudioFormat.hopSamples)..<window.count {
                state.samples[state.count % AudioHistory.length] = index < 0 ? 0 : window[index]
                state.count += 1
            }
        }
        waiting.store(done == nil ? blocks : 0, ordering: .relaxed)
    }

    /// Samples so far.
    public var count: Int { state.withLock { $0.count } }

    /// A piece, counted in samples since the beginning; what is no longer or not yet on the tape is left out.
    public func piece(_ range: Range<Int>) -> [Float] {
        state.withLock { state in
            let range = range.clamped(to: max(0, state.count - AudioHistory.length)..<state.count)
            return range.map { state.samples[$0 % AudioHistory.length] }
        }
    }
}
