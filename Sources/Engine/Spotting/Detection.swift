public import Core

/// A decision of the detector: a word, a phrase or the first words of a phrase was said, or a session began or ended.
///
/// Times are in seconds since the stream began.
public struct Detection: Equatable, Sendable, BitwiseCopyable {
    /// What was detected.
    public enum Kind: String, Equatable, Sendable, BitwiseCopyable {
        /// A word; each word of a phrase is reported as a word too.
        case word
        /// All words of a phrase, in order.
        case phrase
        /// The first words of a phrase, with more to come.
        case phrasePartial = "phrase-partial"
        /// The wake word of a session was said: its words count from now on.
        case sessionStart = "session-start"
        /// One of the session's words was said, another session began, or audio is missing.
        case sessionEnd = "session-end"
        /// The session's seconds are over.
        case sessionTimeout = "session-timeout"
        /// A word nearly fired: its score came within a margin under its threshold; see ``GateSettings/nearMissMargin``.
        case nearMiss = "near-miss"

        /// Whether it is the start or the end of a session.
        public var isSession: Bool {
            switch self {
            case .word, .phrase, .phrasePartial, .nearMiss: false
            case .sessionStart, .sessionEnd, .sessionTimeout: true
            }
        }

        /// Key of the name in machine-readable formats.
        public var subjectKey: String {
            switch self {
            case .word, .nearMiss: "word"
            case .phrase, .phrasePartial: "phrase"
            case .sessionStart, .sessionEnd, .sessionTimeout: "session"
            }
        }

        /// Value of the key `event` in machine-readable formats.
        public var key: String { rawValue }
    }

    public let kind: Kind
    /// Index of the label, of the phrase, or of the session.
    public let index: Int
    /// Smoothed posterior, 0…1; for a phrase, the lowest among its words; for a session, that of the word that began or
    /// ended it, else 0.
    public internal(set) var confidence: Float
    /// Of a word that networks confirmed: its score in the streaming network, and their posterior; `confidence` is of both.
    public internal(set) var proposed: Float?
    public internal(set) var confirmed: Float?
    /// Estimated start and end of the word or phrase, or of the word that began or ended a session; `time` if there is none.
    public internal(set) var start: Double
    public internal(set) var end: Double
    /// Time of the decision: the end of the newest hop at that moment.
    public internal(set) var time: Double
    /// Index of the session that a word belongs to; nil for words outside of sessions and for other kinds.
    public internal(set) var session: Int?
    /// The threshold of a word or near miss at that moment; 0 for other kinds.
    public internal(set) var threshold: Float = 0
    /// The mode of a word or near miss; nil for other kinds.
    public internal(set) var mode: DetectionMode?
    /// Whether the loudspeaker said it: a word, or a part of a phrase, that is in the reference of its echo too.
    public internal(set) var isOwnSpeech = false

    /// Name of the word, phrase or session, by those of the detector that reported it; empty if there is none.
    public func name(labels: [String], phrases: [Phrase], sessions: [WakeSession] = []) -> String {
        switch kind {
        case .word, .nearMiss: labels.indices.contains(index) ? labels[index] : ""
        case .phrase, .phrasePartial: phrases.indices.contains(index) ? phrases[index].name : ""
        case .sessionStart, .sessionEnd, .sessionTimeout: sessions.indices.contains(index) ? sessions[index].name : ""
        }
    }

    /// The same word as one of a session.
    func inSession(_ session: Int?) -> Detection {
        var word = self
        word.session = session
        return word
    }
}
