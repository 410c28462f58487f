import Core

extension Configuration {
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
}

extension Section where Root == Configuration.Misses {
    /// The keys of `misses`.
    static let misses = Section([
        Setting("dir", \.dir, SettingKind<String>.absolutePath("/var/lib/beckon/misses").optional),
        // Few enough for one answer of the control socket.
        Setting("keep", \.keep, .whole(1...100)),
        Setting("quota", \.quota, .whole(1...1_000_000)),
        Setting("margin", \.margin, .number(0.01...0.5, "a number from 0.01 to 0.5")),
    ])
}
