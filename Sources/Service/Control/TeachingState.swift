private import Core
public import JSON

/// How far the teaching of a word by the service is, without its sound. A pure value.
public struct TeachingState: Equatable, Sendable {
    /// A take that was recorded in this teaching.
    public struct Take: Equatable, Sendable {
        /// Of the speech, in seconds.
        public var seconds: Double
        /// In dB below full scale.
        public var level: Double
        /// Levels of its parts, 0…1, for a picture.
        public var envelope: [Double]

        public init(seconds: Double, level: Double, envelope: [Double]) {
            (self.seconds, self.level, self.envelope) = (seconds, level, envelope)
        }
    }

    /// The words that are taught already.
    public var taught: [String] = []
    /// The words of the user that nobody recorded.
    public var typed: [String] = []
    /// The word that is being typed; nil for none.
    public var typing: TypedWordState?
    /// The word that is being taught; nil for none.
    public var word: String?
    /// Takes that it had before.
    public var before = 0
    /// Takes to record.
    public var wanted = 0
    public var takes: [Take] = []
    /// Whether audio is being recorded for a take.
    public var isRecording = false
    /// What the client is called whose audio is recorded, or was last; nil for the microphone.
    public var client: String?
    /// Whether speech has begun.
    public var hasSpeech = false
    /// Counts the recordings that have ended, so that a client sees that one has.
    public var recordings = 0
    /// What became of the last recording, if it was not used; what else there is to say.
    public var message: String?
    /// The estimate, a sentence each; empty before there are enough takes. After a word was saved, and until the next one begins, that of it.
    public var estimate: [String] = []
    /// The word that was saved last; nil before, and while one is taught.
    public var saved: String?

    public init() {}

    public var json: JSON {
        [
            "taught": .strings(taught), "word": .optional(word), "before": .number(before), "wanted": .number(wanted),
            "takes": .array(
                takes.map { take in
                    [
                        "seconds": .number(take.seconds, places: 2), "level": .number(take.level, places: 0),
                        "envelope": .array(take.envelope.map { .number($0, places: 2) }),
                    ]
                }
            ),
            "recording": .bool(isRecording), "speech": .bool(hasSpeech), "recordings": .number(recordings),
            "message": .optional(message), "estimate": .strings(estimate), "client": .optional(client),
            "saved": .optional(saved), "typed": .strings(typed), "typing": typing?.json ?? .null,
        ]
    }
}
