/// How many clips got the right label, by kind of clip.
public struct Accuracy: Sendable, Equatable, Encodable {
    /// Clips of a kind, and how many of them got the right label.
    public struct Count: Sendable, Equatable, Encodable {
        public let clips: Int
        public let right: Int
        /// Right answers among the clips, 0…1; nil where there are none.
        public let share: Double?

        init(_ clips: [ScoredClip]) {
            self.clips = clips.count
            right = clips.count(where: \.isRight)
            share = ratio(right, clips.count)
        }
    }

    public let words: Count
    public let unknown: Count
    public let silence: Count
    public let all: Count
    /// Words weighing 80 %, unknown and silence 10 % each, as in the dataset's own test; nil where a kind is missing.
    public let twelveClass: Double?

    public init(_ clips: [ScoredClip], labels: LabelSet) {
        let kinds = Dictionary(grouping: clips) { labels.kind(of: $0.truth) }
        words = Count(kinds[.word] ?? [])
        unknown = Count(kinds[.unknown] ?? [])
        silence = Count(kinds[.silence] ?? [])
        all = Count(clips)
        if let words = words.share, let unknown = unknown.share, let silence = silence.share {
            twelveClass = 0.8 * words + 0.1 * unknown + 0.1 * silence
        } else {
            twelveClass = nil
        }
    }
}
