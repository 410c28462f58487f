private import Core

/// The format of audio without a header: `16000,1,s16`.
public struct RawFormat: Equatable, Sendable {
    /// Frames per second.
    public let rate: Int
    public let channels: Int
    public let sample: SampleLayout

    /// Nil outside the limits of audio files.
    public init?(rate: Int, channels: Int, sample: SampleLayout) {
        guard Resampler.inputRates.contains(rate), ChannelMix.channelCounts.contains(channels) else { return nil }
        self.rate = rate
        self.channels = channels
        self.sample = sample
    }

    /// Nil for text that is not `RATE,CHANNELS,FORMAT` within the limits of audio files.
    public init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let rate = Int(digits: parts[0]), let channels = Int(digits: parts[1]),
            let sample = SampleLayout(name: parts[2])
        else { return nil }
        self.init(rate: rate, channels: channels, sample: sample)
    }

    /// Bytes of one sample of each channel.
    public var frameBytes: Int { channels * sample.bytes }
}
