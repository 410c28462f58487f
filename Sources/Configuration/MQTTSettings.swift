import Core

extension Configuration {
    /// The connection to an MQTT broker.
    public struct MQTT: Equatable, Sendable {
        /// The broker's name or address; nil for no connection.
        public var host: String?
        /// Nil for 1883, or 8883 with TLS.
        public var port: Int?
        /// Whether the connection is encrypted, and the broker's certificate checked.
        public var tls = false
        /// Certificates of the authorities that the broker's may be signed by; nil for those of the system.
        public var caFile: String?
        public var user: String?
        /// A file with the password in its first line.
        public var passwordFile: String?
        /// The first level of all topics.
        public var prefix = "beckon"
        /// This device in topics and in Home Assistant; nil for the name of the machine.
        public var name: String?
        /// The first level of Home Assistant's discovery topics; nil for no discovery.
        public var discovery: String? = "homeassistant"
        /// Whether discovery describes the device in one message, or each component in one of its own.
        public var discoveryForm = DiscoveryForm.device
        /// The id of this device for Hermes (Rhasspy); nil for no Hermes topics.
        public var hermes: String?

        public init() {}
    }

    /// What Home Assistant's discovery messages look like.
    public enum DiscoveryForm: String, Sendable, CaseIterable {
        /// One message for the device; Home Assistant 2024.11 and later.
        case device
        /// One message for each entity and trigger; any Home Assistant.
        case components
    }
}

extension Section where Root == Configuration.MQTT {
    /// The keys of `mqtt`.
    static let mqtt = Section([
        Setting("host", \.host, SettingKind<String>.text("a broker's name or address") { isHost($0) }.optional),
        Setting("port", \.port, SettingKind<Int>.whole(1...65_535).optional),
        Setting("tls", \.tls, .flag),
        Setting("caFile", \.caFile, SettingKind<String>.absolutePath("/etc/ssl/certs/broker.pem").optional),
        Setting("user", \.user, SettingKind<String>.text("a user's name").optional),
        Setting("passwordFile", \.passwordFile, SettingKind<String>.absolutePath("/etc/beckon/mqtt").optional),
        Setting("prefix", \.prefix, .topic("beckon")),
        Setting("name", \.name, SettingKind<String>.text("a name of at most 60 characters") { isName($0) }.optional),
        Setting("discovery", \.discovery, SettingKind<String>.topic("homeassistant").optional),
        Setting("discoveryForm", \.discoveryForm, .choice),
        Setting(
            "hermes",
            \.hermes,
            SettingKind<String>.text("a site's id of at most 60 characters") { isName($0) }.optional
        ),
    ])

    private static func isHost(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 253 && !text.contains { $0.isWhitespace || $0 == "/" }
    }

    private static func isName(_ text: String) -> Bool { (1...60).contains(text.count) && isReadableName(text) }
}

extension SettingKind where Value == String {
    /// A topic, or the first levels of one: without wildcards, and without an empty level.
    fileprivate static func topic(_ example: String) -> SettingKind {
        text("a topic without +, # and empty levels, such as \"\(example)\"") { topic in
            topic.utf8.count <= 200 && isReadableName(topic) && !topic.contains { "+#$".contains($0) }
                && topic.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
        }
    }
}
