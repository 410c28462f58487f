public import Audio

/// The device and the channels to capture; ``Microphone/select(_:)`` changes them during capture.
public struct InputSelection: Equatable, Sendable {
    public var device: DeviceChoice
    /// How the device's channels are mixed to one.
    public var mix: ChannelMix
    /// The device with what a loudspeaker plays, where the mix removes the echo of one: ALSA's name, or ``pipeWireMonitor``.
    public var reference: String?

    /// What the default output of PipeWire or PulseAudio plays.
    public static let pipeWireMonitor = "pipewire:monitor"

    public init(device: DeviceChoice = .auto, mix: ChannelMix = .mix, reference: String? = nil) {
        self.device = device
        self.mix = mix
        self.reference = reference
    }
}
