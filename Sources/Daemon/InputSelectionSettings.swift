public import Audio
public import Capture
public import Configuration

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

extension InputSelection {
    /// What a configuration wants to be listened to.
    public init(_ configuration: Configuration) {
        self.init(device: DeviceChoice(configuration.device), mix: ChannelMix(configuration.channel))
    }
}
