public import Audio
public import Capture
public import Core

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
