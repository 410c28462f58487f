import Core
import JSON

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
    static let mqtt = Section(
        [
            Setting("host", \.host, SettingKind<String>.brokerHost.optional),
            Setting("port", \.port, SettingKind<Int>.whole(1...65_535).optional),
            Setting("tls", \.tls, .flag),
            Setting("caFile", \.caFile, SettingKind<String>.absolutePath("/etc/ssl/certs/broker.pem").optional),
            Setting("user", \.user, SettingKind<String>.text("a user's name").optional),
            Setting("passwordFile", \.passwordFile, SettingKind<String>.absolutePath("/etc/beckon/mqtt").optional),
            Setting("prefix", \.prefix, .topic("beckon")),
            Setting(
                "name",
                \.name,
                SettingKind<String>.text("a name of at most 60 characters") { isName($0) }.optional
            ),
            Setting("discovery", \.discovery, SettingKind<String>.topic("homeassistant").optional),
            Setting("discoveryForm", \.discoveryForm, .choice),
            Setting(
                "hermes",
                \.hermes,
                SettingKind<String>.text("a site's id of at most 60 characters") { isName($0) }.optional
            ),
        ],
        foreign: foreign
    )

    /// Other programs' keys.
    private static let foreign: [String: String] = {
        let password =
            "write the password into the first line of a file, and name that: passwordFile: \"/etc/beckon/mqtt\""
        let host = "it is called host, with a name or an address alone; the port is a key of its own"
        let authorities = "it is called caFile: a file with the certificate of the broker's authority"
        let own = "client certificates are not supported; the broker's is checked with tls: true and caFile"
        let topics = "topics begin with prefix and name: prefix: \"beckon\", name: \"kitchen\""
        let name = "it follows from name, which also names the device: name: \"kitchen\""
        return [
            "username": "it is called user", "userid": "it is called user", "login": "it is called user",
            "password": password, "pass": password, "passwd": password, "passwordfilename": password,
            "broker": host, "brokerhost": host, "server": host, "address": host, "hostname": host, "url": host,
            "uri": host,
            "brokerport": "it is called port", "ssl": "it is called tls", "usetls": "it is called tls",
            "ca": authorities, "cacert": authorities, "cacerts": authorities, "certificate": authorities,
            "cafilename": authorities,
            "cert": own, "certfile": own, "clientcert": own, "key": own, "keyfile": own,
            "topic": topics, "basetopic": topics, "topicprefix": topics, "clientid": name, "devicename": name,
            "discoveryprefix": "it is called discovery: the first level of Home Assistant's topics",
            "siteid": "it is called hermes: the site's id",
            "enabled": "leave out host, or the whole of mqtt, to turn it off",
        ]
    }()

    private static func isName(_ text: String) -> Bool { (1...60).contains(text.count) && isReadableName(text) }
}

extension SettingKind where Value == String {
    /// A broker's name or address; what else people write there is explained.
    fileprivate static var brokerHost: SettingKind {
        var kind = text("a broker's name or address")
        let plain = kind.read
        kind.read = { node, key, findings in
            guard let text = plain(node, key, &findings) else { return nil }
            guard let advice = hostAdvice(text) else { return text }
            findings.add(advice, key: key, at: node.place)
            return nil
        }
        return kind
    }

    /// What to write instead of a text that is not a name and no address; nil for one that is.
    private static func hostAdvice(_ text: String) -> String? {
        var (rest, keys) = (text[...], [String]())
        var scheme: Substring = ""
        if let range = rest.firstRange(of: "://") {
            (scheme, rest) = (rest[..<range.lowerBound], rest[range.upperBound...])
        }
        rest = rest.prefix { $0 != "/" }
        if let user = rest.lastIndex(of: "@") {
            keys.append("user: \"\(rest[..<user].prefix { $0 != ":" })\"")
            if rest[..<user].contains(":") { keys.append("passwordFile: a file with the password in its first line") }
            rest = rest[rest.index(after: user)...]
        }
        // An address of IPv6 has more than one colon, and a port only after brackets.
        let isBracketed = rest.hasPrefix("[")
        let end = isBracketed ? rest.firstIndex(of: "]").map { rest.index(after: $0) } : rest.firstIndex(of: ":")
        if let end, isBracketed || rest.lastIndex(of: ":") == end {
            let port = rest[end...].dropFirst()
            if !port.isEmpty { keys.append("port: \(port)") }
            rest = rest[..<end]
        }
        if isBracketed { rest = rest.dropFirst().prefix { $0 != "]" } }
        if ["mqtts", "ssl", "tls", "wss", "https"].contains(scheme.lowercased()) { keys.append("tls: true") }
        let isHost =
            rest.utf8.count <= 253 && !rest.contains { $0.isWhitespace || $0.unicodeScalars.contains(where: isHidden) }
        guard isHost, !rest.isEmpty else { return "expected a broker's name or address, such as \"192.168.1.2\"" }
        guard rest != text else { return nil }
        let all = ["host: \"\(rest)\""] + keys
        let note =
            ["ws", "wss", "http", "https"].contains(scheme.lowercased())
            ? "; MQTT over web sockets is not supported" : ""
        return "a name or an address alone belongs here; write \(all.joined(separator: ", "))\(note)"
    }

    /// A topic, or the first levels of one: without wildcards, and without an empty level.
    fileprivate static func topic(_ example: String) -> SettingKind {
        text("a topic without +, # and empty levels, such as \"\(example)\"") { topic in
            topic.utf8.count <= 200 && isReadableName(topic) && !topic.contains { "+#$".contains($0) }
                && topic.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
        }
    }
}
