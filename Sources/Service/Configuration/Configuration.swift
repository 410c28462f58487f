public import Audio
public import Core
public import Echo
public import JSON
public import Spotting
import System

/// All settings of the service. `Configuration()` holds the defaults.
public struct Configuration: Equatable, Sendable {
    /// The channels of the device that are used.
    public enum Channels: Equatable, Sendable {
        /// The mean of all channels.
        case mix
        /// The mean of these channels, counted from 0.
        case only([Int])

        /// Some channels; nil if the list is empty, or if a number is outside 0…63 or occurs twice.
        public init?(_ numbers: [Int]) {
            guard !numbers.isEmpty, Set(numbers).count == numbers.count, numbers.allSatisfy((0..<64).contains) else {
                return nil
            }
            self = .only(numbers)
        }

        /// Parses the form of the command line: `mix`, `0`, or `0,1`; nil if it is invalid.
        public init?(_ text: String) {
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int(digits: $0) }
            if text == "mix" { self = .mix } else { self.init(numbers.map { $0 ?? -1 }) }
        }

        /// How the channels become one.
        public var mix: ChannelMix {
            switch self {
            case .mix: .mix
            case .only(let numbers): ChannelSet(numbers).map { .channels($0) } ?? .mix
            }
        }
    }

    /// The settings of one word; nil where the settings of all words apply. `cooldown` is in seconds.
    public struct Word: Equatable, Sendable {
        /// False for a word that never fires.
        public var enabled = true
        public var threshold: Float?
        public var sensitivity: Sensitivity?
        public var cooldown: Double?
        public var actions: [Action]?
        /// Whether the word is made from its name, and nobody recorded it.
        public var typed = false
        /// Of a typed word how it may be said, in IPA or ARPAbet; none for what its spelling gives.
        public var sounds: [String] = []

        public init() {}

        /// What decides the word's threshold; nil where the choice for all words applies.
        public var choice: ThresholdChoice? { ThresholdChoice(threshold, else: sensitivity) }

        /// Replaces `threshold` and `sensitivity`; nil removes both.
        public mutating func choose(_ choice: ThresholdChoice?) {
            (threshold, sensitivity) = (choice?.confidence, choice?.sensitivity)
        }
    }

    /// The words that are made from their names, in alphabetical order.
    public var typedNames: [TypedName] {
        words.filter(\.value.typed).sorted { $0.key < $1.key }.map {
            TypedName(WordName.folded($0.key), sounds: $0.value.sounds)
        }
    }

    /// The settings of one phrase; nil where the settings of all phrases apply. `cooldown` is in seconds.
    public struct Phrase: Equatable, Sendable {
        /// Two or more words, separated by blanks.
        public var phrase = ""
        /// Longest time between two neighbouring words, in seconds.
        public var maximumGap = PhraseMatcher.defaultGap
        public var cooldown: Double?
        public var actions: [Action]?

        public init() {}

        /// The text with single blanks, which is the phrase's name in events.
        public var name: String { phrase.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    }

    /// The limits of the queue of actions.
    public struct Limits: Equatable, Sendable {
        /// The largest number of actions that wait.
        public var queue = 64
        /// The largest number of programs and requests that run at a time.
        public var atOnce = 4
        /// The longest time that a program or a request may take, in seconds.
        public var timeout = 10.0
    }

    /// The echo of a loudspeaker near the microphone.
    public struct Echo: Equatable, Sendable {
        /// Where what a loudspeaker plays comes from.
        public enum Reference: Equatable, Sendable {
            /// A channel of the microphone, from 0.
            case channel(Int)
            /// A device of its own: ALSA's name, or `pipewire:monitor`.
            case device(String)
            /// What the service itself plays on its speaker.
            case speaker

            /// Parses the form of the command line: a number, `speaker`, or a name; nil if it is empty or no channel.
            public init?(_ text: String) {
                if let number = Int(digits: text) {
                    guard (0...63).contains(number) else { return nil }
                    self = .channel(number)
                } else if text == "speaker" {
                    self = .speaker
                } else {
                    guard !text.isEmpty, !text.hasPrefix("-"), !text.contains("\0") else { return nil }
                    self = .device(text)
                }
            }
        }

        /// Nil removes no echo.
        public var reference: Reference?
        /// Length of the adaptive filter in seconds.
        public var filter = EchoSettings.usualFilter

        public init() {}

        /// Nil where no echo is removed.
        public var settings: EchoSettings? {
            switch reference {
            case nil: nil
            case .channel(let number): EchoSettings(.channel(number), filter: filter)
            case .device, .speaker: EchoSettings(.device, filter: filter)
            }
        }

        /// The device with what a loudspeaker plays; nil if a channel has it, or nothing.
        public var device: String? { if case .device(let name) = reference { name } else { nil } }
    }

    /// The settings of saved clips.
    public struct Clips: Equatable, Sendable {
        /// The folder for clips; nil saves none.
        public var dir: String?
        /// The largest number of clips that are kept.
        public var keep = 100
        /// The largest total size of the clips, in megabytes (10⁶ bytes).
        public var quota = 50
        /// Seconds of audio before the word's start, and after its end.
        public var before = 0.5
        public var after = 0.3

        public init() {}
    }

    /// The ring of detected and nearly detected words.
    public struct Misses: Equatable, Sendable {
        /// The folder for clips and their list; nil keeps nothing.
        public var dir: String?
        /// The largest number of entries.
        public var keep = 50
        /// The largest total size of the clips, in megabytes (10⁶ bytes).
        public var quota = 20
        /// How far under its threshold a score is a near miss; never below half the threshold.
        public var margin: Float = 0.2

        public init() {}
    }

    /// The place of the control socket.
    public enum Socket: Equatable, Sendable {
        /// `control.socket` in the service's run-time folder.
        case auto
        case none
        case path(String)
    }

    /// The model's folder, or the name of a model that comes with the program; nil for the model that comes with the program.
    public var model: String?
    /// Whether the model's confirming networks are loaded, if it has some.
    public var confirms = true
    /// Wake words with models of their own: names of those that came with the program, or files.
    public var wakeWords: [String] = []
    /// The name of the capture device, or `auto`.
    public var device = "auto"
    /// The channels of the device that are used.
    public var channel = Channels.mix
    /// The echo of a loudspeaker that is removed.
    public var echo = Echo()
    /// ALSA's name of the device that sounds and answers are played on; nil for none.
    public var speaker: String?
    /// How the channels become one.
    public var mix: ChannelMix { channel.mix.cancelling(echo.settings) }
    /// The threshold of all words; nil for each word's own, by `sensitivity`.
    public var threshold: Float?
    /// How readily all words fire; `threshold` takes precedence.
    public var sensitivity = Sensitivity.balanced
    /// Seconds after an event in which the same word or phrase causes no other event.
    public var cooldown = 0.0
    /// The settings of single words, by word.
    public var words: [String: Word] = [:]
    /// The only words that may fire, of the command line; nil for all. No key of a file.
    public private(set) var onlyWords: [String]?
    /// Whether only wake words with models of their own may fire, by the command line. No key of a file.
    public private(set) var onlyWakeWords = false
    /// The phrases to detect, in addition to words.
    public var phrases: [Phrase] = []
    /// Words that count only for some seconds after a wake word.
    public var sessions: [Session] = []
    /// The settings of the gate, including mode and trigger.
    public var gate = Configuration.defaultGate
    /// The actions of words and phrases that have none of their own.
    public var actions: [Action] = []
    /// Hosts that webhooks may post to, in addition to this machine.
    public var webhookHosts: [String] = []
    public var limits = Limits()
    /// The place of the control socket.
    public var socket = Socket.auto
    public var clips = Clips()
    /// The ring of detected and nearly detected words.
    public var misses = Misses()
    /// The wake-word server and the satellite.
    public var wyoming = Wyoming()
    /// The voice satellite by ESPHome's API.
    public var esphome = ESPHome()
    /// The broker that events are published to.
    public var mqtt = MQTT()
    /// The devices of which the nearest one acts on a word.
    public var group = Group()
    public var web = Web()
    public var metrics = MetricsFile()
    /// The least severe level that is logged.
    public var log = LogLevel.info

    public init() {}

    /// Mode `command` by default: a microphone hears speech all day, so only words said alone count.
    private static let defaultGate: GateSettings = {
        var gate = GateSettings()
        gate.mode = .command
        return gate
    }()

    /// The configuration as JSON, with every key.
    public var json: JSON { SettingKind.configuration.write(self) }
}

extension Configuration {
    /// Replaces `threshold` and `sensitivity`, which apply to all words.
    public mutating func choose(_ choice: ThresholdChoice) {
        threshold = choice.confidence
        sensitivity = choice.sensitivity ?? sensitivity
    }

    /// What decides the thresholds, in this order: a word's threshold, its sensitivity, the threshold of all words, their
    /// sensitivity. Disabled words never fire.
    public var thresholdChoices: ThresholdChoices {
        var choices = ThresholdChoices()
        choices.all = ThresholdChoice(threshold, else: sensitivity) ?? choices.all
        choices.words = words.compactMapValues(\.choice)
        choices.disabled = Set(words.filter { !$0.value.enabled }.keys)
        choices.only = onlyWords
        choices.onlyWakeWords = onlyWakeWords
        return choices
    }

    /// From now on only wake words with models of their own may fire. Phrases and sessions, which need other words, are dropped.
    public mutating func keepOnlyWakeWords() {
        onlyWakeWords = true
        (phrases, sessions) = ([], [])
    }

    /// From now on only these words may fire, the phrases that consist of them, and the sessions of which they are the wake word and
    /// some of the words. The words of other sessions count at any time.
    ///
    /// - Parameter names: however they are written.
    public mutating func keepOnly(words names: [String]) {
        onlyWords = names
        let kept = Set(names.map(WordName.folded))
        phrases.removeAll {
            !Spotting.Phrase.parts(of: WordName.folded($0.phrase), words: Array(kept)).allSatisfy(kept.contains)
        }
        sessions.removeAll { session in
            !kept.contains(WordName.folded(session.wake))
                || !session.words.contains { kept.contains(WordName.folded($0)) }
        }
    }

    /// All words named by the configuration, in `words`, `phrases`, `sessions`, `wyoming` and `esphome`.
    ///
    /// - Parameter known: the known words. A name with blanks counts as one word only if it is among them.
    public func namedWords(beside known: [String]) -> [String] {
        let inPhrases = phrases.flatMap { Spotting.Phrase.parts(of: $0.phrase, words: known) }
        let inSessions = sessions.flatMap { [$0.wake] + $0.words }
        return Array(words.keys) + inPhrases + inSessions + (satelliteWords + assistantWords).map(\.word)
    }

    /// Removes words that are not among `known`, the phrases that contain them, and the sessions that they start.
    ///
    /// The words of such a session are disabled: without it they would count at any time.
    ///
    /// - Returns: the names of the removed words.
    @discardableResult
    public mutating func leaveOut(wordsBeside known: [String]) -> [String] {
        let gone = Set(namedWords(beside: known)).subtracting(known)
        for word in gone { words[word] = nil }
        wyoming.satelliteWords?.removeAll(where: gone.contains)
        esphome.words?.removeAll(where: gone.contains)
        phrases.removeAll { !gone.isDisjoint(with: Spotting.Phrase.parts(of: $0.phrase, words: known)) }
        leaveOutSessions(wordsBeside: known)
        return gone.sorted()
    }

    /// The phrases for the detector.
    ///
    /// - Throws: ``SpottingError`` if a phrase has fewer than two words, or one that is not among the labels.
    public func detectorPhrases(labels: [String]) throws(SpottingError) -> [Spotting.Phrase] {
        try phrases.map { entry throws(SpottingError) in
            try Spotting.Phrase(entry.phrase, words: labels, longestGap: entry.maximumGap)
        }
    }
}
