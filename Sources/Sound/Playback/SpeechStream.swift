import Synchronization

/// Speech on its way to the loudspeaker: one thread writes it as it arrives, the thread that plays takes it.
///
/// It holds a second of audio; the writer has to wait while it is full.
public final class SpeechStream: Sendable {
    private struct State {
        /// Samples from `first` on, `count` of them, in a ring.
        var samples: [Float]
        var first = 0
        var count = 0
        var isComplete = false
        var isCancelled = false
        var isOver = false
    }

    /// Of the samples, in hertz.
    public let rate: Int
    private let state: Mutex<State>
    /// Wakes the thread that plays.
    private let wake: @Sendable () -> Void

    /// - Parameter rate: 1 or more, in hertz.
    init(rate: Int, wake: @escaping @Sendable () -> Void) {
        self.rate = rate
        self.wake = wake
        state = Mutex(State(samples: [Float](repeating: 0, count: max(1, rate))))
    }

    // MARK: - Of the writer

    /// How many samples find room. A stream that is over takes any number, and plays none of them.
    public var room: Int { state.withLock { $0.isOver ? .max : $0.samples.count - $0.count } }

    /// Appends samples from −1 to 1.
    ///
    /// - Parameter samples: at most ``room``; more are dropped.
    public func write(_ samples: Span<Float>) {
        state.withLock { state in
            guard !state.isOver else { return }
            let capacity = state.samples.count
            for index in 0..<min(samples.count, capacity - state.count) {
                state.samples[(state.first + state.count) % capacity] = samples[index]
                state.count += 1
            }
        }
        wake()
    }

    /// Nothing more is written.
    public func finish() {
        state.withLock { $0.isComplete = true }
        wake()
    }

    /// What was not played yet is dropped.
    public func cancel() {
        state.withLock { $0.isCancelled = true }
        wake()
    }

    /// Whether all of it was heard, or no more of it will be.
    public var isOver: Bool { state.withLock { $0.isOver } }

    // MARK: - On the thread that plays

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Takes the oldest samples, as many as are there and fit.
    ///
    /// - Returns: their number, and whether no more will come.
    func take(into room: UnsafeMutableBufferPointer<Float>) -> (count: Int, isAtEnd: Bool) {
        state.withLock { state in
            let count = min(room.count, state.count)
            for index in 0..<count { room[index] = state.samples[(state.first + index) % state.samples.count] }
            state.first = (state.first + count) % state.samples.count
            state.count -= count
            return (count, state.isComplete && state.count == 0)
        }
    }

    /// It was played, or cannot be played.
    func close() {
        state.withLock { state in
            (state.isOver, state.count) = (true, 0)
        }
    }
}
