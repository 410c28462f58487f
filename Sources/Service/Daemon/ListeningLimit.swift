/// When a service that listens for a moment ends by itself: `beckon listen --once` and `--seconds`.
///
/// It is a program that asks, not a service: it has no control socket and no integrations.
public struct ListeningLimit: Equatable, Sendable {
    /// The first event that ends it.
    public enum Event: Sendable {
        /// A word or a phrase, but not a wake word, which starts a session.
        case word
        case phrase
    }

    /// Nil if no event ends it.
    public var first: Event?
    /// The longest time, in seconds: of a file its audio; else of the clock too, because a device or a writer may stall. Nil for no limit.
    public var seconds: Double?

    public init(first: Event? = nil, seconds: Double? = nil) {
        self.first = first
        self.seconds = seconds
    }

    /// Whether it ends by itself.
    public var isSet: Bool { self != ListeningLimit() }

    /// Whether the time is over.
    ///
    /// - Parameters:
    ///   - elapsed: seconds of the clock since listening began.
    ///   - played: seconds of a file or a stream that were heard; nil for a microphone.
    ///   - isFile: whether it is a file, which does not stall.
    func isOver(elapsed: Double, played: Double?, isFile: Bool) -> Bool {
        guard let seconds else { return false }
        return played.map { $0 >= seconds } ?? false || !isFile && elapsed >= seconds
    }
}
