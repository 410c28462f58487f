/// The audio that models and detectors work on: mono, 32-bit floats in −1…1, 16 kHz.
///
/// A *hop* is 100 ms, the step of the detector; a *window* is the second of audio that ends with a hop, the input of the
/// network.
public enum AudioFormat {
    /// Samples per second.
    public static let sampleRate = 16_000
    /// Samples in a hop.
    public static let hopSamples = 1_600
    /// Samples in a window.
    public static let windowSamples = 16_000
    /// Hops in a window.
    public static let windowHops = windowSamples / hopSamples
    public static let hopDuration = Duration.milliseconds(100)
    /// Duration of a hop, in seconds.
    public static let hopSeconds = 0.1
}
