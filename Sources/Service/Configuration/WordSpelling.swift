import Core
import Spotting

extension Configuration {
    /// Writes the words that it names as they are known. Options of a command line name them, too.
    public mutating func spell(asIn known: [String]) { self = WordSpelling(known: known).spelled(self) }
}

/// Names of words are taken however they are written: `Hey_Computer` in a configuration is the word `hey computer`.
struct WordSpelling {
    /// The words that are known, and those that are gone.
    let known: [String]

    /// The known name that is meant; the same text where there is none.
    func spelled(_ name: String) -> String { WordName.match(name, in: known) ?? name }

    /// The phrase with its words as they are known.
    func spelled(_ phrase: Configuration.Phrase) -> Configuration.Phrase {
        guard !Phrase.parts(of: phrase.phrase, words: known).allSatisfy(known.contains) else { return phrase }
        let folded = Dictionary(known.map { (WordName.folded($0), $0) }) { first, _ in first }
        let parts = Phrase.parts(of: WordName.folded(phrase.phrase), words: Array(folded.keys))
        guard parts.allSatisfy({ folded[$0] != nil }) else { return phrase }
        var result = phrase
        result.phrase = parts.compactMap { folded[$0] }.joined(separator: " ")
        return result
    }

    func spelled(_ session: Configuration.Session) -> Configuration.Session {
        var result = session
        result.wake = spelled(session.wake)
        result.words = session.words.map(spelled)
        return result
    }

    func spelled(_ configuration: Configuration) -> Configuration {
        var result = configuration
        for (name, word) in configuration.words {
            let meant = spelled(name)
            // A word that is set twice stays, and is reported as not known.
            guard meant != name, configuration.words[meant] == nil else { continue }
            result.words[name] = nil
            result.words[meant] = word
        }
        result.phrases = configuration.phrases.map(spelled)
        result.sessions = configuration.sessions.map(spelled)
        let phrases = result.phrases.map(\.name)
        func meant(_ name: String) -> String { WordName.match(name, in: phrases) ?? spelled(name) }
        result.wyoming.satelliteWords = configuration.wyoming.satelliteWords?.map(meant)
        result.esphome.words = configuration.esphome.words?.map(meant)
        result.esphome.stopWord = configuration.esphome.stopWord.map(meant)
        return result
    }
}
