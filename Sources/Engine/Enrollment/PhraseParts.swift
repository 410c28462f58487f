import Inference

/// The parts of a phrase: what is said of "hey computer" where somebody says "computer" alone.
///
/// An embedding of one second says little about what is missing. So a phrase is compared with its parts, too: their recordings are cut
/// out of the takes, between the words of the name. And a second look tells whether there is sound before an end of the phrase.
enum PhraseParts {
    /// The most gaps between words that are cut at.
    static let mostGaps = WordStore.Limit.parts / 2
    /// How far from its expected place a gap is searched, as a share of the phrase, and the length over which the level is averaged,
    /// in samples.
    private static let (search, step) = (0.12, 320)
    /// A cut fades over so many samples.
    private static let fade = 80

    private static func words(of name: String) -> [Substring] {
        name.split { !$0.isLetter && !$0.isNumber && $0 != "'" }
    }

    /// Whether a name is the beginning or the end of a phrase, in whole words.
    static func isPart(_ name: String, of phrase: String) -> Bool {
        let (part, all) = (words(of: name.lowercased()), words(of: phrase.lowercased()))
        guard !part.isEmpty, part.count < all.count else { return false }
        return all.starts(with: part) || all.suffix(part.count) == part[...]
    }

    /// Where the gaps between the words of a name lie, as shares of its letters; empty for a single word.
    static func gaps(in name: String) -> [Double] {
        let lengths = words(of: name).map(\.count)
        let all = Double(lengths.reduce(0, +))
        var (before, gaps): (Int, [Double]) = (0, [])
        for length in lengths.dropLast() {
            before += length
            gaps.append(Double(before) / all)
        }
        return Array(gaps.prefix(mostGaps))
    }

    /// For each gap what is said before it, and what is said after it; empty for a single word.
    static func utterances(of phrase: Utterance, name: String) -> [Utterance] {
        gaps(in: name).flatMap { share in
            let gap = gap(near: share, in: phrase)
            var (before, after) = (Array(phrase.samples[..<gap]), Array(phrase.samples[gap...]))
            for index in 0..<min(fade, before.count, after.count) {
                let gain = Float(index) / Float(fade)
                before[before.count - 1 - index] *= gain
                after[index] *= gain
            }
            return [
                Utterance(samples: before, speech: phrase.speech.lowerBound..<gap),
                Utterance(samples: after, speech: 0..<phrase.speech.upperBound - gap),
            ]
        }
    }

    /// The quietest place of the speech near a share of it, a sample within it.
    private static func gap(near share: Double, in phrase: Utterance) -> Int {
        let speech = phrase.speech
        func place(_ share: Double) -> Int { speech.lowerBound + Int(share * Double(speech.count)) }
        let range = place(max(0.1, share - search))..<place(min(0.9, share + search))
        let places = stride(from: range.lowerBound, to: max(range.lowerBound, range.upperBound - step), by: step / 4)
        let quietest = places.min { rms(phrase.samples[$0..<$0 + step]) < rms(phrase.samples[$1..<$1 + step]) }
        return quietest.map { $0 + step / 2 } ?? place(share)
    }
}

extension TakeEmbedder {
    /// The templates of the parts of a phrase, `[parts × templates × dimensions]`; empty for a single word.
    mutating func parts(of utterance: Utterance, name: String, spacing: Int) -> [[[Float]]] {
        var parts: [[[Float]]] = []
        for part in PhraseParts.utterances(of: utterance, name: name) {
            parts.append(templates(of: part, spacing: spacing))
        }
        return parts
    }
}

// MARK: - Words of a store

extension WordStore.Word {
    /// What the parts of a phrase have in common in all takes, said alone: unit vectors, `[parts × templates × dimensions]`.
    var parts: [[[Float]]] {
        guard let first = takes.first(where: { !$0.parts.isEmpty }) else { return [] }
        let alike = takes.filter {
            $0.parts.count == first.parts.count && $0.templates.count == first.templates.count
                && $0.templateSpacing == first.templateSpacing
        }
        return first.parts.indices.map { part in
            first.parts[part].indices.map { template in unitMean(of: alike.map { $0.parts[part][template] }) }
        }
    }

    /// The word with takes that have no parts.
    var withoutParts: WordStore.Word {
        var word = self
        for index in word.takes.indices { word.takes[index].parts = [] }
        return word
    }

    /// Whether this is a phrase of which some take has no parts: an earlier version stored it.
    var lacksParts: Bool {
        !PhraseParts.gaps(in: name).isEmpty && takes.contains { $0.parts.isEmpty && !$0.templates.isEmpty }
    }

    /// Adds the parts of takes that have a recording.
    mutating func addParts(_ embedder: inout TakeEmbedder, _ model: Model) {
        for index in takes.indices where takes[index].parts.isEmpty {
            guard let utterance = Self.utterance(takes[index].audio, model) else { continue }
            let spacing = takes[index].templateSpacing
            takes[index].parts = embedder.parts(of: utterance, name: name, spacing: spacing)
        }
    }
}
