/// What a loudspeaker near the microphone plays is known from where, so that its echo is removed.
public struct EchoSettings: Equatable, Sendable, BitwiseCopyable {
    /// Where that comes from.
    public enum Reference: Equatable, Sendable, BitwiseCopyable {
        /// A channel of the microphone itself, counted from 0. It is not part of any mix.
        case channel(Int)
        /// A device of its own, with a clock of its own.
        case device
    }

    public var reference: Reference
    /// Length of the adaptive filter in seconds: how long the room answers to a sound. Delays before that are found apart from it.
    public var filter: Double

    /// Lengths that are accepted.
    public static let filters = 0.05...0.5
    /// A quarter of a second of the echo of most living rooms is 20 dB above the rest.
    public static let usualFilter = 0.3

    public init(_ reference: Reference, filter: Double = EchoSettings.usualFilter) {
        self.reference = reference
        self.filter = filter
    }

    /// The reference is a channel, counted from 0.
    public init(reference channel: Int, filter: Double = EchoSettings.usualFilter) {
        self.init(.channel(channel), filter: filter)
    }

    /// The channel with the reference; nil if it is a device.
    public var channel: Int? { if case .channel(let number) = reference { number } else { nil } }
}
