import Core
public import Events
public import Network

extension Configuration {
    /// The voice satellite by ESPHome's API, as Home Assistant's integration `esphome` connects to it.
    public struct ESPHome: Equatable, Sendable {
        /// Where it listens; nowhere by default.
        public var listen: [ListenAddress] = []
        /// Its name in Home Assistant; nil for the machine's.
        public var name: String?
        /// Whether connections are encrypted, with the key of `beckon esphome key`.
        public var encryption = true
        /// Whether it is announced by mDNS, where other machines can connect.
        public var announce = true
        /// The words and phrases that can start a command; nil for all.
        public var words: [String]?
        /// The word that ends an answer or a ringing timer; nil for none.
        public var stopWord: String? = "stop"
        /// Audio files: after a word that starts a command; when the command was understood; where it failed; of a ringing timer. Without
        /// a file the first two are silent, and the others have a sound of their own.
        public var heardSound: String?
        public var doneSound: String?
        public var errorSound: String?
        public var timerSound: String?
        /// Whether music of other programs is made quiet while the assistant is used.
        public var duckMusic = false
        /// What is done when the assistant's state changes, by the new state.
        public var actions: [AssistantState: [Action]] = [:]

        public init() {}

        subscript(state: AssistantState) -> [Action] {
            get { actions[state] ?? [] }
            set { actions[state] = newValue.isEmpty ? nil : newValue }
        }

        /// The files, with their keys.
        var sounds: [(key: String, path: String)] {
            let all = [
                ("heardSound", heardSound), ("doneSound", doneSound), ("errorSound", errorSound),
                ("timerSound", timerSound),
            ]
            return all.compactMap { key, path in path.map { ("esphome.\(key)", $0) } }
        }
    }

    /// The words among ``ESPHome/words``, without phrases, with their keys.
    var assistantWords: [(word: String, key: String)] {
        (esphome.words ?? []).enumerated().compactMap { index, word in
            phrases.contains { $0.name == word } ? nil : (word, "esphome.words[\(index)]")
        }
    }
}

extension Section where Root == Configuration.ESPHome {
    /// The keys of `esphome`.
    static let esphome = Section(
        [
            Setting("listen", \.listen, .addresses(like: "tcp://0.0.0.0:6053")),
            Setting(
                "name",
                \.name,
                SettingKind<String>.text("a name of at most 60 characters, such as \"kitchen\"") { isName($0) }.optional
            ),
            Setting("encryption", \.encryption, .flag),
            Setting("announce", \.announce, .flag),
            Setting("words", \.words, SettingKind<String>.text("a word or phrase").list.optional),
            Setting("stopWord", \.stopWord, SettingKind<String>.text("a word or phrase").optional),
            Setting("heardSound", \.heardSound, SettingKind<String>.sound.optional),
            Setting("doneSound", \.doneSound, SettingKind<String>.sound.optional),
            Setting("errorSound", \.errorSound, SettingKind<String>.sound.optional),
            Setting("timerSound", \.timerSound, SettingKind<String>.sound.optional),
            Setting("duckMusic", \.duckMusic, .flag),
            stateActions("onIdle", .idle), stateActions("onListening", .listening),
            stateActions("onThinking", .thinking), stateActions("onSpeaking", .speaking),
            stateActions("onTimer", .timer), stateActions("onMuted", .muted), stateActions("onError", .error),
        ],
        foreign: [
            "key": "the key is not in the configuration: beckon esphome key prints it",
            "encryptionkey": "the key is not in the configuration: beckon esphome key prints it",
            "password":
                "the protocol's password is no longer used; encryption: true needs a key, see beckon esphome key",
            "port": "the port is a part of the address: listen: \"tcp://0.0.0.0:6053\"",
            "wakewords": "it is called words; what is detected at all is the key wakeWords of the whole configuration",
        ]
    )

    private static func stateActions(_ name: String, _ state: AssistantState) -> Setting<Root> {
        Setting(name, \.[state], SettingKind<Action>.action.list)
    }

    /// Names need a letter or digit that the protocol takes.
    private static func isName(_ text: String) -> Bool {
        (1...60).contains(text.count) && isReadableName(text)
            && text.utf8.contains { (48...57).contains($0) || (97...122).contains($0 | 0x20) }
    }
}
