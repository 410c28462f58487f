public import Input
public import System

extension Daemon {
    /// What a service needs in addition to its settings.
    public struct Setup: Sendable {
        /// What it does.
        public enum Role: Sendable {
            /// Detects words in this audio.
            case detector(AudioInput)
            /// Detects words in its clients' audio alone, on so many threads: `beckon serve`.
            case server(threads: Int)
        }

        public var role: Role
        /// Whether it plays a file.
        var isFile: Bool { if case .detector(.file) = role { true } else { false } }
        /// The path of a WAV file to record the audio to; nil for none.
        public var recording: String?
        /// When it ends by itself.
        public var limit: ListeningLimit
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
            _ role: Role,
            recording: String? = nil,
            limit: ListeningLimit = ListeningLimit(),
            environment: [String: String],
            output: LineWriter,
            outputIsJSON: Bool = false,
            logOutput: LineWriter,
            onTerminalSignal: @escaping @Sendable (Int32) -> Void = { _ in }
        ) {
            self.role = role
            self.onTerminalSignal = onTerminalSignal
            self.recording = recording
            self.limit = limit
            self.environment = environment
            self.output = output
            self.outputIsJSON = outputIsJSON
            self.logOutput = logOutput
        }
    }
}
