/// What a broker's clients see of the service at one moment. A pure value; ``MQTTMessages`` makes messages of it.
public struct MQTTState: Equatable, Sendable {
    public struct Word: Equatable, Sendable {
        public let name: String
        /// Nil for a word that never fires, or whose threshold changes with sessions.
        public let threshold: Float?

        public init(name: String, threshold: Float?) {
            self.name = name
            self.threshold = threshold
        }
    }

    public var words: [Word]
    public var phrases: [String]
    /// Nil where there is no microphone to mute: a file or a stream is played.
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
}

/// A change that a message from the broker asks for.
public enum MQTTCommand: Equatable, Sendable {
    case mute(Bool)
    /// A threshold between 0 and 1 for a word.
    case threshold(word: String, Float)
}

/// This machine's names: in topics, and as people read it.
public struct MQTTIdentity: Equatable, Sendable {
    /// The name that people read.
    public let name: String
    /// The name in topics and in Home Assistant's identifiers: letters, digits, `-` and `_`.
    public let slug: String

    public init(name: String) {
        self.name = name
        slug = Self.slug(name)
    }

    /// A name of letters, digits, `-` and `_` for any text; different for different texts.
    ///
    /// A blank becomes `_`. Any other character becomes `-` and its code in hexadecimal, so that names of all scripts have one.
    public static func slug(_ text: String) -> String {
        var slug = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9": slug.unicodeScalars.append(scalar)
            case " ": slug += "_"
            default: slug += "-" + String(scalar.value, radix: 16)
            }
        }
        return slug
    }
}
