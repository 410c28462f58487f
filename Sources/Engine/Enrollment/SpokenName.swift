private import Inference
private import Phonemes
private import Spotting

/// Tells how well a take of a word sounds like its name, as the name is read in English.
///
/// The networks are loaded with the first take.
final class SpokenName {
    /// Scores of takes that are doubtful. Of 59 single takes of ten words by strangers the 6 in this range find 90 % of other people's utterances in
    /// the mean, the others 93 %. A take of another word has less, and so has a name of another language: nothing can be said of these. The range is that
    /// of the network before, at which the same share of utterances has more.
    private static let doubtful: ClosedRange<Float> = -3.5 ... -1.1
    /// Silence before and after a take, in samples: the network hears a sound better with what is around it.
    private static let around = 3200

    private let name: String
    private var parts: (runner: SoundRunner, alignments: [PhonemeAlignment])??

    init(_ name: String) { self.name = name }

    /// Whether a take sounds a little like the name, but not as most people say it.
    func isDoubtful(_ utterance: Utterance) -> Bool {
        score(utterance).map(Self.doubtful.contains) ?? false
    }

    /// The score of the best pronunciation; nil where the name has none, or the networks are not there.
    func score(_ utterance: Utterance) -> Float? {
        let loaded = parts ?? load()
        parts = .some(loaded)
        guard var loaded else { return nil }
        let said = utterance.trimmed
        loaded.runner.samples.update(repeating: 0)
        let room = SoundHearing.samples - 2 * Self.around
        for (index, sample) in said.samples[said.speech].prefix(room).enumerated() {
            loaded.runner.samples[Self.around + index] = sample
        }
        var best = -Float.infinity
        loaded.runner.look { _, _, losses in
            for index in loaded.alignments.indices { best = max(best, loaded.alignments[index].add(losses)) }
        }
        return best
    }

    private func load() -> (runner: SoundRunner, alignments: [PhonemeAlignment])? {
        guard let hearing = try? PhonemeFolder.hearing(beside: nil) else { return nil }
        let network = hearing.network
        guard let pronouncer = try? Pronouncer(folder: network.folder),
            let ways = try? pronouncer.pronunciations(of: name)
        else { return nil }
        return (SoundRunner(network), ways.map { PhonemeAlignment($0, blank: network.blank) })
    }
}
