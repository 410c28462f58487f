import Phonemes

/// The second look at wake words: whether the sounds of the phrase are in the newest seconds. It refuses only what is clearly something else.
///
/// Several streams may share it, one at a time. After `init`, nothing allocates.
final class WakeWordLook: WordLook {
    /// The score from which on a phrase is confirmed, in nats a sound (``PhonemeAlignment``).
    static let least: Float = -2.5

    private let hearing: SoundHearing
    /// Of each pronunciation, by label; none for a label that is not looked at.
    private var alignments: [[PhonemeAlignment]]

    /// - Returns: nil where no word is looked at.
    init?(_ lookedAt: [(label: Int, pronunciations: [Pronunciation])], _ hearing: SoundHearing) {
        guard let last = lookedAt.map(\.label).max() else { return nil }
        self.hearing = hearing
        alignments = Array(repeating: [], count: last + 1)
        for (label, ways) in lookedAt {
            alignments[label] = ways.map { PhonemeAlignment($0, blank: hearing.network.blank) }
        }
        hearing.reserve()
    }

    /// - Returns: the score of the word's own network for what sounds like the phrase, 0 for what does not.
    func look(
        _ word: ProposedWord,
        after earlier: Verdict?,
        _ posteriors: [Float],
        read: (_ first: Int, UnsafeMutableBufferPointer<Float>) -> Void
    ) -> Verdict? {
        guard alignments.indices.contains(word.label), !alignments[word.label].isEmpty else { return nil }
        let score = score(word, read)
        return Verdict(
            label: word.label,
            confidence: score >= Self.least ? word.score : 0,
            confirmed: TypedWord.probability(score, boundary: Self.least)
        )
    }

    /// The best score of the phrase in the seconds up to the word's end.
    private func score(
        _ word: ProposedWord,
        _ read: (_ first: Int, UnsafeMutableBufferPointer<Float>) -> Void
    ) -> Float {
        hearing.with { runner in
            read(word.end - runner.samples.count, runner.samples)
            return runner.best(&alignments[word.label])
        }
    }
}
