private import Core
import Spotting

extension Findings {
    /// The words that a configuration names, in words, phrases, sessions and the satellites' lists, with their keys.
    ///
    /// - Parameter known: the known words, so that the words of phrases are told apart.
    func words(named configuration: Configuration, beside known: [String]) -> [(word: String, key: String)] {
        let own = configuration.words.keys.sorted().map { ($0, "words.\($0)") }
        let inPhrases = phrases.flatMap { key, phrase in
            Phrase.parts(of: phrase.phrase, words: known).map { ($0, key + ".phrase") }
        }
        let inSessions = sessions.flatMap { key, session in
            [(session.wake, key + ".wake")] + session.words.enumerated().map { ($1, "\(key).words[\($0)]") }
        }
        return own + inPhrases + inSessions.filter { !$0.0.isEmpty } + configuration.satelliteWords
            + configuration.assistantWords
    }
}

extension ParsedConfiguration {
    /// Where the configuration names words that are about to go, in the order of the file.
    ///
    /// - Parameters:
    ///   - words: the words that go.
    ///   - known: all other words, so that the words of phrases are told apart.
    ///   - newName: the name that they have got; nil if they are forgotten.
    /// - Returns: a warning for each place.
    public func places(naming words: [String], known: [String], newName: String? = nil) -> [ConfigurationProblem] {
        var named = Findings(file: findings.file, places: findings.places)
        let advice = newName.map { "write '\($0)' here" } ?? "remove it here, or teach the word again"
        for (word, key) in findings.words(named: configuration, beside: known + words) where words.contains(word) {
            let effect = "names '\(word)'; a service starts without it, with a warning"
            named.add("\(effect); \(advice)", key: key, isWarning: true)
        }
        return named.sorted
    }

    /// Where the key `wakeWords` names a wake word that goes.
    ///
    /// - Returns: a warning for each place.
    public func places(namingWakeWord name: String) -> [ConfigurationProblem] {
        var named = Findings(file: findings.file, places: findings.places)
        let folded = WordName.folded(name)
        for (index, other) in configuration.wakeWords.enumerated() where WordName.folded(other) == folded {
            named.add(
                "names '\(name)'; a service starts without it, with a warning; remove it here, or add the model again",
                key: "wakeWords[\(index)]",
                isWarning: true
            )
        }
        return named.sorted
    }
}
