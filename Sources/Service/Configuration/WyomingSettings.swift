public import Network

extension Configuration {
    /// The wake-word server and the satellite by Wyoming, the voice protocol of Home Assistant.
    public struct Wyoming: Equatable, Sendable {
        /// Where the server listens; nowhere by default.
        public var listen: [ListenAddress] = []
        /// The largest number of connections of the server at a time.
        public var connections = 500
        /// Whether server and satellite are announced by mDNS, where other machines can connect.
        public var announce = true
        /// Where Home Assistant can connect to the microphone as its satellite; nowhere by default.
        public var satellite: [ListenAddress] = []
        /// The address or the name of the Home Assistant that may have the satellite; nil for the one that comes first.
        public var satelliteServer: String?
        /// The words and phrases that the satellite reports; nil for all.
        public var satelliteWords: [String]?
        /// Audio files that are played on the speaker after a word that the satellite reports, and after its command was understood.
        public var heardSound: String?
        public var doneSound: String?
        /// What the server keeps of its clients' words.
        public var recent = Recent()

        public init() {}

        /// The last words and near misses of each client, with their sound, in memory only, for the live page.
        public struct Recent: Equatable, Sendable {
            /// The largest number of words of a client; 0 keeps nothing.
            public var keep = 0
            /// The largest size of all recordings, in megabytes (10⁶ bytes); the last seconds of clients that talk count, too.
            public var quota = 20
            /// How far under its threshold a score is a near miss.
            public var margin: Float = 0.2
            /// What the clients are called, by their addresses.
            public var names: [String: String] = [:]

            public init() {}
        }
    }

    /// The words among ``Wyoming/satelliteWords``, without phrases, with their keys.
    var satelliteWords: [(word: String, key: String)] {
        (wyoming.satelliteWords ?? []).enumerated().compactMap { index, word in
            phrases.contains { $0.name == word } ? nil : (word, "wyoming.satelliteWords[\(index)]")
        }
    }
}

extension Section where Root == Configuration.Wyoming {
    /// The keys of `wyoming`.
    static let wyoming = Section([
        Setting("listen", \.listen, .addresses(like: "tcp://127.0.0.1:10400")),
        Setting("connections", \.connections, .whole(1...10_000)),
        Setting("announce", \.announce, .flag),
        Setting("satellite", \.satellite, .addresses(like: "tcp://127.0.0.1:10700")),
        Setting("satelliteServer", \.satelliteServer, SettingKind<String>.host(like: "192.168.1.20").optional),
        Setting("satelliteWords", \.satelliteWords, SettingKind<String>.text("a word or phrase").list.optional),
        Setting("heardSound", \.heardSound, SettingKind<String>.sound.optional),
        Setting("doneSound", \.doneSound, SettingKind<String>.sound.optional),
        Setting("recent", at: \.recent, recent),
    ])

    private static let recent = Section<Configuration.Wyoming.Recent>([
        Setting("keep", \.keep, .whole(0...100)),
        Setting("quota", \.quota, .whole(1...1000)),
        Setting("margin", \.margin, .number(0.01...0.5, "a number from 0.01 to 0.5")),
        Setting("names", \.names, SettingKind<String>.text("a client's name").table),
    ])
}
