public import Core

/// What the service hears at one moment, as the terminal's panel and the live page show it. A pure value.
public struct LiveState: Equatable, Sendable {
    /// A class of the model, or a taught word.
    public struct Class: Equatable, Sendable {
        public enum Kind: String, Sendable {
            /// A word of the model.
            case word
            /// A word that the user taught.
            case taught
            /// Other speech, or silence.
            case special
        }

        public var name: String
        public var kind: Kind
        /// Smoothed posterior, 0…1.
        public var score: Float
        /// Nil for the special classes, and for words that are not enabled.
        public var threshold: Float?
        /// Whether its thresholds are those of its sessions.
        public var isInSession: Bool

        public init(name: String, kind: Kind, score: Float, threshold: Float?, isInSession: Bool) {
            self.name = name
            self.kind = kind
            self.score = score
            self.threshold = threshold
            self.isInSession = isInSession
        }
    }

    /// The device, or the name of what is played; empty before the first device.
    public var source = ""
    /// Why nothing is heard, such as `lost; waiting for it`; nil while all is well.
    public var problem: String?
    /// Nil where there is no microphone to mute.
    public var isMuted: Bool?
    /// Decibels of a loudspeaker's echo that are removed; nil while nothing is played.
    public var echoReduction: Float?
    /// The device's sample rate in Hz; nil if it is not known.
    public var rate: Int?
    /// Seconds of a file or a stream that were played; nil for a microphone.
    public var position: Double?
    /// Seconds of the whole file; nil if that is not known.
    public var length: Double?
    /// Levels of the newest block in dBFS: its root mean square, and its largest sample.
    public var level = -120.0
    public var peak = -120.0
    /// Whether the largest sample is so near to full scale that the microphone overdrives.
    public var isTooLoud: Bool { peak > -0.1 }
    /// Name of the session that is on; nil for none.
    public var session: String?
    /// Whether networks confirm the words.
    public var confirmation = ConfirmationState.missing
    /// All classes, in the order of the vocabulary's labels.
    public var classes: [Class] = []

    public init() {}
}
