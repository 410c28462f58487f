/// Why an echo cannot be cancelled.
public enum EchoError: Error, CustomStringConvertible {
    /// libspeexdsp, which is loaded when it is needed, is not installed.
    case noLibrary
    case noMemory

    public var description: String {
        switch self {
        case .noLibrary:
            "echo cancellation needs libspeexdsp, which is not installed; install it: apt install libspeexdsp1"
        case .noMemory: "no memory for echo cancellation"
        }
    }
}
