import Spotting

extension ParsedConfiguration {
    /// Where the configuration names words that are about to go, in the order of the file.
    ///
    /// - Parameters:
    ///   - words: the words that go.
    ///   - known: all other words, so that the words of phrases are told apart.
    /// - Returns: a warning for each place.
    public func places(naming words: [String], known: [String]) -> [ConfigurationProblem] {
        var named = Findings(file: findings.file, places: findings.places)
        func note(_ word: String, _ key: String) {
            guard words.contains(word) else { return }
            named.add(
                "names '\(word)'; a service starts without it, with a warning; remove it here, or teach the word again",
                key: key,
                isWarning: true
            )
        }
        for word in configuration.words.keys.sorted() { note(word, "words.\(word)") }
        for (key, phrase) in findings.phrases {
            for part in Phrase.parts(of: phrase.phrase, words: known + words) { note(part, key + ".phrase") }
        }
        for (key, session) in findings.sessions {
            note(session.wake, key + ".wake")
            for (index, word) in session.words.enumerated() { note(word, "\(key).words[\(index)]") }
        }
        for (word, key) in configuration.satelliteWords { note(word, key) }
        return named.sorted
    }
}
