public import Audio

/// What is listened to; it may change while a microphone captures.
public struct InputSelection: Equatable, Sendable {
    public var device: DeviceChoice
    /// How the device's channels become one.
    public var mix: ChannelMix

    public init(device: DeviceChoice = .auto, mix: ChannelMix = .mix) {
        self.device = device
        self.mix = mix
    }
}
