public import Audio
public import Capture
public import Configuration

extension ChannelMix {
    /// The channels of a configuration.
    public init(_ channels: Configuration.Channels) {
        self =
            switch channels {
            case .mix: .mix
            case .only(let numbers): ChannelSet(numbers).map { .channels($0) } ?? .mix
            }
    }
}

extension InputSelection {
    /// The device and the channels of a configuration.
    public init(_ configuration: Configuration) {
        self.init(device: DeviceChoice(configuration.device), mix: ChannelMix(configuration.channel))
    }
}
