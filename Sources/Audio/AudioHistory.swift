import Core
package import Synchronization

/// The last seconds of audio that the detector heard, for clips and recordings.
///
/// The detector's thread writes and never waits for a reader: blocks that come while one copies are taken from the window
/// of the next hop.
public final class AudioHistory: Sendable {
    /// In hertz.
    public static let sampleRate = AudioFormat.sampleRate
    /// Seconds that are kept.
    public static let seconds = 8
    private static let length = seconds * sampleRate

    package struct State {
        fileprivate var samples = [Float](repeating: 0, count: AudioHistory.length)
        /// Samples written since the beginning.
        fileprivate var count = 0
    }

    package let state = Mutex(State())
    /// The detector's own: blocks that it could not write yet.
    private let waiting = Atomic<Int>(0)

    public init() {}

    /// Takes in the newest block of a window. Called on the detector's thread; allocates nothing and never waits.
    public func add(_ window: Span<Float>) {
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

    /// Samples by their number since the beginning; those that are no longer or not yet kept are left out.
    public func samples(_ range: Range<Int>) -> [Float] {
        state.withLock { state in
            let range = range.clamped(to: max(0, state.count - AudioHistory.length)..<state.count)
            return range.map { state.samples[$0 % AudioHistory.length] }
        }
    }
}
