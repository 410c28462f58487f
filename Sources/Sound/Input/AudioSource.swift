public import Audio
public import Core

/// A source of live audio, as blocks: a microphone, a file that is played as if it came from one, or a pipe.
///
/// One thread reads blocks; all else may be used on any thread.
public protocol AudioSource: Sendable {
    /// Starts to capture or to read. Called once.
    func start() throws

    /// Waits for the next block of 1600 samples, and passes `body` the window (one second, 16000 samples) that ends
    /// with it, which is valid only inside `body`.
    ///
    /// - Parameter time: the deadline, on the monotonic clock.
    /// - Returns: false if no block came before the deadline, or if the source has ended.
    func next(until time: Instant, _ body: (Span<Float>, AudioBlock) -> Void) -> Bool

    /// Copies what a loudspeaker played during the newest block, in time with its echo; only within the `body` of ``next(until:_:)``.
    ///
    /// - Parameter samples: 1600.
    /// - Returns: false if nothing is known of it; the samples stay as they are.
    func copyPlayed(to samples: inout [Float]) -> Bool

    /// Whether the source will give no more audio.
    var hasEnded: Bool { get }

    /// Whether nothing is lost while its blocks are not read: a file, or a pipe whose writer waits.
    var waits: Bool { get }

    /// Whether it was given up for good: a device without a clock. Known once ``messages(at:)`` has said so.
    var isRefused: Bool { get }

    /// The error that ended reading early; nil if there was none.
    var problem: AudioError? { get }

    /// Why no audio comes now, such as `muted`; nil while all is well.
    var trouble: String? { get }

    /// What was lost on the way from it; the detector and the recording count theirs there, too.
    var lost: LostAudio { get }

    /// How far a file or a stream was played; nil for a microphone.
    var progress: AudioProgress? { get }

    /// Lines for the log that are due at a time on the monotonic clock; call it several times a second.
    func messages(at now: Instant) -> [(level: LogLevel, text: String)]

    /// Drops live audio that was not read yet. A file goes on where it is. Only the thread that reads blocks may call this.
    func dropUnread()

    /// Stops it.
    ///
    /// - Parameter time: when to give up, on the monotonic clock.
    /// - Returns: whether it has ended, so that no thread waits for a device or a writer.
    @discardableResult
    func stop(until time: Instant) -> Bool
}

/// What a source has that runs on the thread of its reader, and has no end.
extension AudioSource {
    public func start() {}
    public func copyPlayed(to samples: inout [Float]) -> Bool { false }
    public var waits: Bool { false }
    public var isRefused: Bool { false }
    public var problem: AudioError? { nil }
    public var trouble: String? { nil }
    public var progress: AudioProgress? { nil }
    public func messages(at now: Instant) -> [(level: LogLevel, text: String)] { [] }
    public func dropUnread() {}
    public func stop(until time: Instant) -> Bool { true }
}

/// How far a file or a stream was played.
public struct AudioProgress: Equatable, Sendable {
    public var seconds: Double
    /// Seconds of all of it; nil if that is not known.
    public var length: Double?
}
