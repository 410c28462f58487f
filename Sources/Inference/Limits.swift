/// The largest numbers that a model may use: generous for keyword spotting, small enough that no product of those
/// that are multiplied with one another overflows, and that no file makes the program ask for memory without end.
enum Limits {
    static let descriptionBytes = 1 << 20
    static let labels = 1_000
    static let labelBytes = 64
    static let layers = 1_024
    static let sampleRate = 384_000
    static let windowSamples = 1 << 21
    static let bands = 1_024
    static let channels = 1 << 22
    /// Kernel, stride, dilation, and the numbers of `mean` and `crop`.
    static let columns = 1 << 21
    static let kernel = 1 << 16
    /// Weights as stored, and again as packed.
    static let weights = 1 << 28
    /// Floats of all tensors of one window.
    static let activations = 1 << 26
    static let multiplyAdds = 1 << 36
}
