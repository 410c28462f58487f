/// Which channel has what a loudspeaker near the microphone plays, so that its echo is removed from the others.
public struct EchoSettings: Equatable, Sendable, BitwiseCopyable {
    /// The channel, counted from 0. It is not part of any mix.
    public var reference: Int
    /// Length of the adaptive filter in seconds: how long the room answers to a sound. Delays before that are found apart from it.
    public var filter: Double

    /// Lengths that are accepted.
    public static let filters = 0.05...0.5
    /// A quarter of a second of the echo of most living rooms is 20 dB above the rest.
    public static let usualFilter = 0.3

    public init(reference: Int, filter: Double = EchoSettings.usualFilter) {
        (self.reference, self.filter) = (reference, filter)
    }
}
