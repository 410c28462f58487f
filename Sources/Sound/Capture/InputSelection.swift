public import Audio

/// The device and the channels to capture; ``Microphone/select(_:)`` changes them during capture.
public struct InputSelection: Equatable, Sendable {
    public var device: DeviceChoice
    /// How the device's channels are mixed to one.
    public var mix: ChannelMix

    public init(device: DeviceChoice = .auto, mix: ChannelMix = .mix) {
        self.device = device
        self.mix = mix
    }
}
