public import Audio
public import Service

extension ChannelMix {
    /// The channels that a configuration names.
    public init(_ channels: Configuration.Channels) {
        self =
            switch channels {
            case .mix: .mix
            case .only(let numbers): ChannelSet(numbers).map { .channels($0) } ?? .mix
            }
    }
}
