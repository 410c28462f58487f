import Core
import JSON
public import Network

extension Configuration {
    /// The web server: metrics, health and a live page.
    public struct Web: Equatable, Sendable {
        /// Where it listens; nowhere by default.
        public var listen: [ListenAddress] = []
        /// Further names of this machine by which browsers may ask for the page.
        public var hosts: [String] = []
        /// Addresses of proxies that have checked who the user is: only they get the page, and they need no token.
        public var proxies: [IPAddress] = []

        public init() {}
    }

    /// The file of metrics for node-exporter.
    public struct MetricsFile: Equatable, Sendable {
        /// The file's path; nil for none.
        public var file: String?
        /// Seconds between two writes.
        public var interval = 15.0

        public init() {}
    }
}

extension Section where Root == Configuration.Web {
    /// The keys of `web`.
    static let web = Section([
        Setting("listen", \.listen, .addresses(like: "tcp://127.0.0.1:10480")),
        Setting("hosts", \.hosts, SettingKind<String>.text("a machine's name") { isHost($0) }.list),
        Setting(
            "proxies",
            \.proxies,
            SettingKind<IPAddress>(
                "an address in numbers, such as 172.30.32.2",
                write: { .string($0.text) },
                take: { node in node.text.flatMap { IPAddress($0) } }
            ).list
        ),
    ])

    private static func isHost(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 253
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") }
    }
}

extension Section where Root == Configuration.MetricsFile {
    /// The keys of `metrics`.
    static let metrics = Section([
        Setting(
            "file",
            \.file,
            SettingKind<String>.text("a path that begins with / and ends with .prom, or null") { isFile($0) }.optional
        ),
        Setting("interval", \.interval, .number(1...3600, "seconds from 1 to 3600")),
    ])

    /// The collector reads files with this ending only.
    private static func isFile(_ text: String) -> Bool {
        text.hasPrefix("/") && text.hasSuffix(".prom") && text.utf8.count <= 4000 && !text.contains("\0")
    }
}
