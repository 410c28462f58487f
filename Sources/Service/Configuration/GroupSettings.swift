import Core
import JSON

extension Configuration {
    /// The devices that hear the same speaker: the nearest one acts.
    public struct Group: Equatable, Sendable {
        /// The group's name, the same on all of its devices; nil for none.
        public var name: String?
        /// Seconds that a device waits for the others'.
        public var window = 0.3

        public init() {}
    }
}

extension Section where Root == Configuration.Group {
    /// The keys of `group`.
    static let group = Section(
        [
            Setting(
                "name",
                \.name,
                SettingKind<String>.text("a name of at most 40 characters") {
                    (1...40).contains($0.count) && isReadableName($0)
                }.optional
            ),
            Setting("window", \.window, .number(0.05...1, "seconds from 0.05 to 1")),
        ],
        suggests: { node in node.text.map { "{ name: \"\(printable($0))\" }" } }
    )
}
