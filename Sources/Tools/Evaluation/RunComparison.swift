private import Core

/// Two evaluations of the same clips: which is better, and whether that may be chance.
public struct RunComparison: Sendable, Equatable, Encodable {
    /// The clips of one word, or all.
    public struct Row: Sendable, Equatable, Encodable {
        /// What was said; nil for all clips.
        public let said: String?
        public let clips: Int
        /// Clips that got the right label: of the first run, the second, only the first, only the second.
        public let first: Int
        public let second: Int
        public let onlyFirst: Int
        public let onlySecond: Int
        /// Two-sided p of McNemar's exact test: how likely so unequal a split is if both are equally good.
        public let p: Double
        /// Share of right labels, second less first.
        public let difference: Double
        /// Its 95 % interval, by a bootstrap of the speakers; nil with fewer than two.
        public let interval: Interval?
    }

    public let all: Row
    /// By word, in order of name.
    public let words: [Row]
    /// Clips that both have.
    public let clips: Int
    /// Clips that only one has.
    public let onlyInFirst: Int
    public let onlyInSecond: Int
    /// Groups that the bootstrap draws: speakers, or clips where none is known.
    public let groups: Int
    public let hasSpeakers: Bool

    private struct Pair {
        let said: String
        let group: String
        let first: Bool
        let second: Bool
    }

    /// - Returns: nil if they have no clip in common.
    public init?(_ first: [ClipResult], _ second: [ClipResult]) {
        let others = Dictionary(second.map { ($0.file, $0) }) { first, _ in first }
        var seen: Set<String> = []
        let hasSpeakers = first.contains { $0.speaker != nil }
        let pairs = first.compactMap { clip -> Pair? in
            guard seen.insert(clip.file).inserted, let other = others[clip.file] else { return nil }
            // A clip without a speaker stands for itself.
            let group = clip.speaker.map { "speaker \($0)" } ?? "clip \(clip.file)"
            return Pair(said: clip.said, group: group, first: clip.isRight, second: other.isRight)
        }
        guard !pairs.isEmpty else { return nil }
        all = Self.row(nil, pairs)
        words = Dictionary(grouping: pairs, by: \.said).sorted { $0.key < $1.key }.map { Self.row($0.key, $0.value) }
        clips = pairs.count
        onlyInFirst = seen.count - pairs.count
        onlyInSecond = others.count - pairs.count
        groups = Set(pairs.map(\.group)).count
        self.hasSpeakers = hasSpeakers
    }

    private static func row(_ said: String?, _ pairs: [Pair]) -> Row {
        let onlyFirst = pairs.count { $0.first && !$0.second }
        let onlySecond = pairs.count { !$0.first && $0.second }
        return Row(
            said: said,
            clips: pairs.count,
            first: pairs.count(where: \.first),
            second: pairs.count(where: \.second),
            onlyFirst: onlyFirst,
            onlySecond: onlySecond,
            p: mcNemar(onlyFirst, onlySecond),
            difference: Double(onlySecond - onlyFirst) / Double(pairs.count),
            interval: bootstrap(pairs)
        )
    }

    /// McNemar's exact test, two-sided: of the clips that one run alone has right, half are expected on each side.
    static func mcNemar(_ left: Int, _ right: Int) -> Double {
        let (less, sum) = (min(left, right), left + right)
        return sum == 0 ? 1 : min(1, 2 * binomial(atMost: less, of: sum, 0.5))
    }

    /// Times that the bootstrap draws.
    private static let draws = 2000

    /// Percentiles of the difference over speakers that are drawn anew, always the same ones.
    private static func bootstrap(_ pairs: [Pair]) -> Interval? {
        let groups = Dictionary(grouping: pairs, by: \.group).sorted { $0.key < $1.key }.map { _, pairs in
            (clips: pairs.count, gain: pairs.count { $0.second } - pairs.count { $0.first })
        }
        guard groups.count > 1 else { return nil }
        var random = Draws(state: 1)
        let differences = (0..<draws).map { _ in
            var (clips, gain) = (0, 0)
            for _ in groups.indices {
                let group = groups[Int.random(in: groups.indices, using: &random)]
                clips += group.clips
                gain += group.gain
            }
            return Double(gain) / Double(clips)
        }
        guard let lower = percentile(differences, 0.025), let upper = percentile(differences, 0.975) else { return nil }
        return Interval(lower: lower, upper: upper)
    }

    /// SplitMix64 (Steele, Lea and Flood 2014): the same numbers at each run.
    private struct Draws: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
