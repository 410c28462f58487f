public import Configuration
private import Spotting

/// What people can see of the service at one moment: its words, its microphone. A pure value.
public struct ServiceState: Equatable, Sendable {
    public struct Word: Equatable, Sendable {
        public let name: String
        /// Nil for a word whose threshold changes with sessions.
        public let threshold: Float?
        /// Whether the user taught it, be it a word of the model or another.
        public let isTaught: Bool

        public init(name: String, threshold: Float?, isTaught: Bool = false) {
            self.name = name
            self.threshold = threshold
            self.isTaught = isTaught
        }
    }

    /// The words that may fire.
    public var words: [Word]
    public var phrases: [String]
    /// Nil where there is no microphone to mute: a file or a stream is played, or clients send the audio.
    public var isMuted: Bool?
    /// Whether audio comes in, or would if it were not muted; nil while that is not known yet, just after the start.
    public var hasAudio: Bool?
    /// The level of the newest audio in dB below full scale; nil without audio.
    public var level: Double?
    /// Whether near misses are kept, and so told as events.
    public var keepsMisses = false

    public init(words: [Word], phrases: [String], isMuted: Bool?, hasAudio: Bool?, level: Double?) {
        self.words = words
        self.phrases = phrases
        self.isMuted = isMuted
        self.hasAudio = hasAudio
        self.level = level
    }

    /// The state of a service with these settings.
    public init(_ settings: ServiceSettings, isMuted: Bool?, hasAudio: Bool?, level: Double?) {
        let taught = Set(settings.vocabulary.taught.map(\.name))
        self.init(
            words: settings.wordThresholds.map { word, threshold in
                Word(name: word, threshold: threshold, isTaught: taught.contains(word))
            },
            phrases: settings.configuration.phrases.map(\.name),
            isMuted: isMuted,
            hasAudio: hasAudio,
            level: level
        )
        keepsMisses = settings.configuration.misses.dir != nil
    }
}
