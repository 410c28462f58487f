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
    /// A take that has less is one of another word, if the name is one of English. Chosen on 352 words that were cut from sentences by people who
    /// calibrate typed words, of which 1.4 % have less, and of other words than their name 76 %. Of 400 takes of ten words by strangers 1.2 % have
    /// less, of other words 82 %.
    private static let leastLike = doubtful.lowerBound
    /// Silence before and after a take, in samples: the network hears a sound better with what is around it.
    private static let around = 3200

    private let name: String
    /// In IPA; none for what the spelling gives.
    private let sounds: [String]
    private var parts: Loaded??

    private struct Loaded {
        let runner: SoundRunner
        var alignments: [PhonemeAlignment]
        /// Sounds of the shortest pronunciation.
        let fewest: Int
    }

    init(_ name: String, sounds: [String] = []) { (self.name, self.sounds) = (name, sounds) }

    /// Whether a take sounds a little like the name, but not as most people say it.
    func isDoubtful(_ utterance: Utterance) -> Bool {
        score(utterance).map(Self.doubtful.contains) ?? false
    }

    /// Whether a take does not sound like the name at all. Nothing is said of names that may not be of English, or are too short to type.
    func isOther(_ utterance: Utterance) -> Bool {
        guard !sounds.isEmpty || Self.maySpellEnglish(name), let score = score(utterance), score < Self.leastLike,
            case .some(.some(let loaded)) = parts
        else { return false }
        return loaded.fewest >= TypedWordCalibration.fewestSounds
    }

    /// Whether a name has nothing but words in Latin letters without accents, each with a vowel.
    private static func maySpellEnglish(_ name: String) -> Bool {
        let words = name.lowercased().split { " -'".contains($0) }
        return !words.isEmpty
            && words.allSatisfy { word in
                word.allSatisfy { ("a"..."z").contains($0) } && word.contains { "aeiouy".contains($0) }
            }
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
        return loaded.runner.best(&loaded.alignments)
    }

    private func load() -> Loaded? {
        guard let hearing = try? PhonemeFolder.hearing(beside: nil) else { return nil }
        let network = hearing.network
        guard let pronouncer = try? Pronouncer(folder: network.folder),
            let ways = sounds.isEmpty
                ? try? pronouncer.pronunciations(of: name)
                : sounds.compactMap({ Pronunciation(symbols: $0, among: network.symbols) })
        else { return nil }
        return Loaded(
            runner: SoundRunner(network),
            alignments: ways.map { PhonemeAlignment($0, blank: network.blank) },
            fewest: ways.map(\.sounds.count).min() ?? 0
        )
    }
}
