private import Core
public import Inference

/// A way to say a word: places of sounds among the symbols of a ``PhonemeNetwork``.
public struct Pronunciation: Sendable, Equatable, Hashable {
    /// No sound follows itself: where two words meet in one, it is said once.
    public let sounds: [Int]

    public init(_ sounds: [Int]) {
        self.sounds = sounds.indices.filter { $0 == 0 || sounds[$0] != sounds[$0 - 1] }.map { sounds[$0] }
    }

    /// The sounds whose names are in a text, with spaces between; nil where it has others.
    public init?(symbols text: String, among symbols: [String]) {
        let names = text.split(separator: " ")
        let sounds = names.compactMap { name in symbols.firstIndex { $0 == name } }
        guard !sounds.isEmpty, sounds.count == names.count else { return nil }
        self.init(sounds)
    }
}

/// Tells how words are pronounced: from their spelling by a network, or from IPA and ARPAbet.
public final class Pronouncer: Sendable {
    /// The most sounds and letters of a word, and of a phrase.
    public enum Limit {
        public static let letters = 40
        public static let sounds = 60
        public static let pronunciations = 8
    }

    /// Symbols that no word of English has: what stands between sounds, and those of Korean that join two sounds or differ by their breath.
    private static let marks: Set<String> = [
        "<pad>", "<sos>", "<eos>", "<unk>", " ", "%", ",", "~", "ja", "je", "jo", "ju", "jʌ", "wa", "we", "wi", "wʌ",
        "ɯi",
        "kʰ", "k͈", "pʰ", "p͈", "s͈", "tʰ", "t͈", "t͡ɕʰ", "t͡ɕ͈",
    ]
    /// Hypotheses that are kept after each sound.
    private static let beam = 4
    /// What other pronunciations of a word may be less likely than the likeliest, in nats.
    private static let range: Float = 1.5

    public let symbols: [String]
    /// The place of the symbol between words.
    public var boundary: Int { symbols.firstIndex(of: PhonemeNetwork.boundaryName) ?? symbols.count }
    private let numbers: [String: Int]
    private let letters: [Character: Int]
    private let spelling: SpellingNetwork
    private let (first, end): (Int, Int)
    /// Places of symbols that no pronunciation has.
    private let unused: [Int]

    /// Reads `phonemes.json` and `spelling.safetensors` of a folder.
    ///
    /// - Throws: `ModelError`, which names the file.
    public init(folder: String) throws(ModelError) {
        let description = try PhonemeDescription(folder: folder)
        symbols = description.symbols
        let sounds = symbols.prefix { $0 != PhonemeNetwork.boundaryName }
        numbers = Dictionary(uniqueKeysWithValues: sounds.enumerated().map { ($1, $0) })
        var letters: [Character: Int] = [:]
        for (index, letter) in description.letters.enumerated() {
            if let character = letter.first, letter.count == 1 { letters[character] = index }
        }
        self.letters = letters
        guard let first = numbers["<sos>"], let end = numbers["<eos>"] else {
            throw PhonemeDescription.wrong(folder, "no symbols are called <sos> and <eos>")
        }
        (self.first, self.end) = (first, end)
        unused = sounds.indices.filter { $0 != end && Self.isMark(sounds[$0]) }
        spelling = try SpellingNetwork(
            path: folder + "/spelling.safetensors",
            letters: description.letters.count,
            sounds: sounds.count
        )
    }

    /// The pronunciations of a name, the likeliest first; those of its words one after the other.
    ///
    /// - Throws: ``PronunciationError``.
    public func pronunciations(of name: String) throws(PronunciationError) -> [Pronunciation] {
        let words = name.lowercased().split { $0.isWhitespace || $0 == "-" || $0 == "_" }
        guard !words.isEmpty else { throw PronunciationError("a name has letters; say it in IPA with --sounds") }
        var phrases: [(sounds: [Int], cost: Float)] = [([], 0)]
        for word in words {
            let ways = try pronunciations(ofWord: word)
            phrases = phrases.flatMap { phrase in ways.map { (phrase.sounds + $0.sounds, phrase.cost + $0.cost) } }
                .sorted { $0.cost < $1.cost }
            phrases = Array(phrases.filter { $0.cost <= phrases[0].cost + Self.range }.prefix(Limit.pronunciations))
        }
        guard phrases.allSatisfy({ (1...Limit.sounds).contains($0.sounds.count) }) else {
            throw PronunciationError("'\(printable(name))' has more than \(Limit.sounds) sounds; choose a shorter name")
        }
        return phrases.map { Pronunciation($0.sounds) }
    }

    private func pronunciations(
        ofWord word: Substring
    ) throws(PronunciationError) -> [(sounds: [Int], cost: Float)] {
        var places: [Int] = []
        for character in word {
            if let place = letters[character] {
                places.append(place)
            } else if !character.isPunctuation {
                throw PronunciationError(
                    "'\(printable(String(character)))' has no known sound; say the word in IPA with --sounds"
                )
            }
        }
        guard !places.isEmpty else {
            throw PronunciationError("'\(printable(String(word)))' has no letters; say it in IPA with --sounds")
        }
        guard places.count <= Limit.letters else {
            throw PronunciationError("'\(printable(String(word.prefix(20))))…' has more than \(Limit.letters) letters")
        }
        let ways = search(spelling.read(places))
        guard let best = ways.first else {
            throw PronunciationError("'\(printable(String(word)))' cannot be pronounced; say it in IPA with --sounds")
        }
        return ways.filter { $0.cost <= best.cost + Self.range }
    }

    /// The likeliest ways to say a word: a beam search.
    private func search(_ word: SpellingNetwork.Word) -> [(sounds: [Int], cost: Float)] {
        struct Hypothesis {
            var sounds: [Int]
            var cost: Float
            var state: SpellingNetwork.State
        }
        var open = [Hypothesis(sounds: [], cost: 0, state: spelling.start(word))]
        var found: [(sounds: [Int], cost: Float)] = []
        for _ in 0..<Limit.sounds {
            var next: [Hypothesis] = []
            for hypothesis in open {
                let after = hypothesis.sounds.last ?? first
                let answer = spelling.next(after: after, hypothesis.state, word)
                var logarithms = answer.logarithms
                for mark in unused { logarithms[mark] = -.infinity }
                let likeliest = logarithms.indices.sorted { logarithms[$0] > logarithms[$1] }.prefix(Self.beam)
                for sound in likeliest where logarithms[sound] > -.infinity {
                    let cost = hypothesis.cost - logarithms[sound]
                    if sound != end {
                        next.append(Hypothesis(sounds: hypothesis.sounds + [sound], cost: cost, state: answer.state))
                    } else if !hypothesis.sounds.isEmpty {
                        found.append((hypothesis.sounds, cost))
                    }
                }
            }
            open = Array(next.sorted { $0.cost < $1.cost }.prefix(Self.beam))
            guard let cheapest = open.first else { break }
            if let best = found.map(\.cost).min(), cheapest.cost > best + Self.range { break }
        }
        return found.sorted { $0.cost < $1.cost }
    }

    /// The place of a sound among the symbols; nil for none, and for a mark.
    func place(of name: String) -> Int? { Self.isMark(name) ? nil : numbers[name] }

    /// Whether a symbol is no sound; also one that in text would become a part of the character before it.
    private static func isMark(_ name: String) -> Bool {
        marks.contains(name) || name.unicodeScalars.first?.properties.generalCategory == .nonspacingMark
    }

    /// The sounds of a pronunciation as text: IPA, with spaces between sounds.
    public func text(_ pronunciation: Pronunciation) -> String {
        pronunciation.sounds.map { symbols.indices.contains($0) ? symbols[$0] : "?" }.joined(separator: " ")
    }
}

/// Why a word has no pronunciation: one line.
public struct PronunciationError: Error, Equatable, Sendable, CustomStringConvertible {
    public let message: String
    public var description: String { message }
    init(_ message: String) { self.message = message }
}
