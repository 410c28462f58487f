public import Audio
import Core
import JSON
public import System

extension Daemon {
    /// What a service needs in addition to its settings.
    public struct Setup: Sendable {
        public var input: Input
        /// The path of a WAV file to record the audio to; nil for none.
        public var recording: String?
        /// The program's environment variables.
        public var environment: [String: String]
        /// Standard output, for `print` actions.
        public var output: LineWriter
        /// Whether ``output`` takes JSON lines: then each text of a `print` action is one too.
        public var outputIsJSON: Bool
        /// What the log is written to; only its counts are used here.
        public var logOutput: LineWriter
        /// Gets the signals that concern a terminal, on the thread that called ``Daemon/run(_:)``.
        public var onTerminalSignal: @Sendable (Int32) -> Void

        public init(
            input: Input = .microphone,
            recording: String? = nil,
            environment: [String: String],
            output: LineWriter,
            outputIsJSON: Bool = false,
            logOutput: LineWriter,
            onTerminalSignal: @escaping @Sendable (Int32) -> Void = { _ in }
        ) {
            self.input = input
            self.onTerminalSignal = onTerminalSignal
            self.recording = recording
            self.environment = environment
            self.output = output
            self.outputIsJSON = outputIsJSON
            self.logOutput = logOutput
        }
    }

    /// The event of a printed text: `{"event": "print", "text"}`.
    static func printEvent(_ line: String) -> JSON {
        ["event": "print", "text": .string(line.hasSuffix("\n") ? String(line.dropLast()) : line)]
    }

    /// Where the audio comes from.
    public enum Input: Equatable, Sendable {
        /// The one that the configuration names.
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
    }
}
