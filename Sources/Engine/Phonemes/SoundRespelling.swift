extension Pronouncer {
    /// Letters that say a sound of English to those who do not read IPA; other sounds keep their symbol.
    private static let respelling = [
        "i": "ee", "ɪ": "i", "ɛ": "e", "æ": "a", "ʌ": "u", "ɑ": "ah", "ɔ": "aw", "ʊ": "uu", "u": "oo", "ɝ": "er",
        "ɚ": "er",
        "eɪ": "ay", "aɪ": "igh", "aʊ": "ow", "oʊ": "oh", "ɔɪ": "oy", "ə": "uh", "θ": "th", "ð": "dh", "ʃ": "sh",
        "ʒ": "zh",
        "t͡ʃ": "ch", "d͡ʒ": "j", "ŋ": "ng", "j": "y", "ɹ": "r", "ɾ": "t", "ɡ": "g", "a": "ah", "e": "ay", "o": "oh",
    ]

    /// Symbols as a reader of English would say them, `twentee howz`; words where the symbol between words is.
    public func respelled(_ symbols: [Int]) -> String {
        let words = symbols.split(separator: boundary).map { word in
            word.map { place in
                let name = self.symbols.indices.contains(place) ? self.symbols[place] : "?"
                return Self.respelling[name] ?? name
            }
            .joined()
        }
        return words.joined(separator: " ")
    }
}
