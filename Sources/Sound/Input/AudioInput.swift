public import Audio
public import Capture

/// Where audio comes from.
public enum AudioInput: Equatable, Sendable {
    /// The microphone of a selection.
    case microphone
    /// A file that is played as if it came from a microphone.
    case file(String)
    /// A descriptor that another program writes audio to: WAV, or without a header in this format.
    case stream(Int32, RawFormat?)

    /// The name of a file or a stream; nil for the microphone.
    public var name: String? {
        switch self {
        case .microphone: nil
        case .file(let path): path
        case .stream: "standard input"
        }
    }

    /// The source; it gives audio after its ``AudioSource/start()``.
    ///
    /// - Parameter selection: the microphone, and the channels of all sources.
    /// - Throws: `AudioError` if a file cannot be opened, or has not these channels; `CaptureError` if the system gives no memory
    ///   or descriptor.
    public func open(_ selection: InputSelection) throws -> any AudioSource {
        let mix = selection.mix.withoutReferenceDevice
        return switch self {
        case .microphone: try MicrophoneSource(selection)
        case .file(let path): try FileSource(path: path, mix: mix)
        case .stream(let descriptor, let format): try PipeSource(descriptor, raw: format, mix: mix)
        }
    }
}
