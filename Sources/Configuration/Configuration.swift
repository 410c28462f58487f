public import Core
public import Spotting

/// Everything that a user can choose about the service. `Configuration()` holds the defaults.
public struct Configuration: Equatable, Sendable {
    /// Which channels of the device are listened to.
    public enum Channels: Equatable, Sendable {
        /// The mean of all.
        case mix
        /// The mean of these, counted from 0.
        case only([Int])

        /// Some channels; nil where a number lies outside 0–63 or is given twice, or there is none.
        public init?(_ numbers: [Int]) {
            guard !numbers.isEmpty, Set(numbers).count == numbers.count, numbers.allSatisfy((0..<64).contains) else {
                return nil
            }
            self = .only(numbers)
        }

        /// As a command line has it: `mix`, `0`, or `0,1`.
        public init?(_ text: String) {
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
            if text == "mix" { self = .mix } else { self.init(numbers.map { $0 ?? -1 }) }
        }
    }

    /// The settings of one word; nil where those for all words apply.
    public struct Word: Equatable, Sendable {
        public var enabled = true
        public var threshold: Float?
        public var cooldown: Double?
        public var actions: [Action]?

        public init() {}
    }

    public struct Phrase: Equatable, Sendable {
        /// Two words or more, separated by blanks.
        public var phrase = ""
        /// Longest time between two neighbouring words, in seconds.
        public var maximumGap = PhraseMatcher.defaultGap
        public var cooldown: Double?
        public var actions: [Action]?

        public init() {}

        /// The text with single blanks: what events call it.
        public var name: String { phrase.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    }

    public struct Limits: Equatable, Sendable {
        /// Actions that may wait.
        public var queue = 64
        /// Programs and requests at a time.
        public var atOnce = 4
        /// Seconds a program or a request may take.
        public var timeout = 10.0
    }

    public struct Clips: Equatable, Sendable {
        /// Nil saves none.
        public var dir: String?
        /// How many are kept at most, and how many megabytes.
        public var keep = 100
        public var quota = 50
        /// Seconds of sound before the word's start and after its end.
        public var before = 0.5
        public var after = 0.3

        public init() {}
    }

    /// Where the control socket is.
    public enum Socket: Equatable, Sendable {
        /// `control.socket` in the service's run-time folder.
        case auto
        case none
        case path(String)
    }

    /// A model's folder; nil for the model that came with the program.
    public var model: String?
    public var device = "auto"
    public var channel = Channels.mix
    /// Nil for each word's own, which come with the model.
    public var threshold: Float?
    /// Seconds in which the same word or phrase is not acted on again.
    public var cooldown = 0.0
    public var words: [String: Word] = [:]
    public var phrases: [Phrase] = []
    public var gate = Configuration.defaultGate
    /// For words and phrases that have none of their own.
    public var actions: [Action] = []
    /// Hosts that webhooks may post to beside this machine.
    public var webhookHosts: [String] = []
    public var limits = Limits()
    public var socket = Socket.auto
    public var clips = Clips()
    public var log = LogLevel.info

    public init() {}

    /// A microphone hears speech all day, so by default only words said alone count.
    private static let defaultGate: GateSettings = {
        var gate = GateSettings()
        gate.mode = .command
        return gate
    }()

    /// The configuration as JSON, with every key.
    public var json: JSON { SettingKind.configuration.write(self) }
}

extension Configuration {
    /// The confidence that each word needs: the model's, unless the user chose otherwise; disabled words never fire.
    ///
    /// - Parameters:
    ///   - labels: the model's labels.
    ///   - defaults: the model's thresholds, one a label.
    public func thresholds(labels: [String], defaults: [Float]) throws(SpottingError) -> Thresholds {
        var thresholds = Thresholds(labels: labels, defaults: defaults)
        if let threshold { thresholds.setAll(threshold) }
        for (name, word) in words {
            if let threshold = word.threshold { try thresholds.set(name, to: threshold) }
        }
        for (name, word) in words where !word.enabled { try thresholds.disable(name) }
        return thresholds
    }

    /// All words that it names, in words and phrases.
    public var namedWords: [String] { namedWords(beside: []) }

    /// - Parameter known: names that may be several words.
    private func namedWords(beside known: [String]) -> [String] {
        words.keys + phrases.flatMap { Spotting.Phrase.parts(of: $0.phrase, words: known) }
    }

    /// Removes words that are not among `known`, and the phrases that hold them.
    ///
    /// - Returns: the names of the removed words.
    public mutating func leaveOut(wordsBeside known: [String]) -> [String] {
        let gone = Set(namedWords(beside: known)).subtracting(known)
        for word in gone { words[word] = nil }
        phrases.removeAll { !gone.isDisjoint(with: Spotting.Phrase.parts(of: $0.phrase, words: known)) }
        return gone.sorted()
    }

    /// The phrases as the detector takes them.
    public func detectorPhrases(labels: [String]) throws(SpottingError) -> [Spotting.Phrase] {
        var result: [Spotting.Phrase] = []
        for entry in phrases {
            result.append(try Spotting.Phrase(entry.phrase, words: labels, longestGap: entry.maximumGap))
        }
        return result
    }
}
