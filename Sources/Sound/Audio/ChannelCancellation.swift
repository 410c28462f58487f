/// Whether channels cancel each other in their mix: their mean is much fainter than they are.
///
/// One microphone wired with the wrong polarity is enough (right = −left): the mix is silent although each channel has the voice.
/// Independent channels lose 10·log₁₀(channels) dB when they are mixed; ten dB more than that is a fault. A pure value.
public struct ChannelCancellation: Equatable, Sendable {
    /// Mean square of the channels below which nothing can be said: −60 dBFS.
    private static let least = 1e-6
    /// Part of what independent channels keep in the mix.
    private static let share = 0.1

    private var frames = 0
    private var used = 0
    /// Sums of squares: of all channels in the mix, and of the mix.
    private var channels = 0.0
    private var mixed = 0.0

    public init() {}

    /// Adds frames.
    ///
    /// - Parameters:
    ///   - interleaved: `[frames × channels]` samples.
    ///   - mixed: what ``ChannelMix/mix(_:channels:into:)`` made of them, a sample for each frame; more are ignored.
    ///   - mix: how it was made.
    public mutating func add(
        _ interleaved: Span<Float>,
        channels count: Int,
        mixed mono: Span<Float>,
        _ mix: ChannelMix
    ) {
        guard count > 1 else { return }
        let new = min(interleaved.count / count, mono.count)
        used = 0
        for channel in 0..<count where mix.contains(channel) {
            used += 1
            var sum: Float = 0
            for frame in 0..<new {
                let sample = interleaved[unchecked: frame * count + channel]
                sum += sample * sample
            }
            channels += Double(sum)
        }
        guard used > 1 else { return }
        var sum: Float = 0
        for frame in 0..<new { sum += mono[unchecked: frame] * mono[unchecked: frame] }
        mixed += Double(sum)
        frames += new
    }

    /// Whether the channels cancel each other; nil for a single channel, and where there is too little sound to tell.
    public var result: Bool? {
        guard used > 1, frames > 0 else { return nil }
        let mean = channels / Double(used)
        guard mean / Double(frames) >= Self.least else { return nil }
        return mixed < mean * Self.share / Double(used)
    }

    /// What to tell the user, about a device or a file.
    ///
    /// - Parameter source: its name.
    public static func warning(_ source: String) -> String {
        "\(source): the channels cancel each other when they are mixed, as if one were wired the wrong way round, so words are "
            + "not heard; use one channel alone: --channel 0 (or the key channel)"
    }
}
