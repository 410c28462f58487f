private import Configuration

/// What people can see of the service at one moment: its words, its microphone. A pure value.
public struct ServiceState: Equatable, Sendable {
    public struct Word: Equatable, Sendable {
        public let name: String
        /// Nil for a word whose threshold changes with sessions.
        public let threshold: Float?

        public init(name: String, threshold: Float?) {
            self.name = name
            self.threshold = threshold
        }
    }

    /// The words that may fire.
    public var words: [Word]
    public var phrases: [String]
    /// Nil where there is no microphone to mute: a file or a stream is played, or clients send the audio.
    public var isMuted: Bool?
    /// Whether audio comes in, or would if it were not muted.
    public var hasAudio: Bool
    /// The level of the newest audio in dB below full scale; nil without audio.
    public var level: Double?

    public init(words: [Word], phrases: [String], isMuted: Bool?, hasAudio: Bool, level: Double?) {
        self.words = words
        self.phrases = phrases
        self.isMuted = isMuted
        self.hasAudio = hasAudio
        self.level = level
    }

    /// The state of a service with these settings.
    public init(_ settings: ServiceSettings, isMuted: Bool?, hasAudio: Bool, level: Double?) {
        self.init(
            words: settings.wordThresholds.map { Word(name: $0.word, threshold: $0.threshold) },
            phrases: settings.configuration.phrases.map(\.name),
            isMuted: isMuted,
            hasAudio: hasAudio,
            level: level
        )
    }
}
