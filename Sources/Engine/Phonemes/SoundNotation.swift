/// How a speech synthesizer of the system takes sounds.
public enum SoundNotation: Sendable {
    /// The mnemonics of espeak-ng's English, for text in double brackets.
    case espeak
    /// The phones of flite, those of ARPAbet in lower case, for its option `-p`.
    case flite
}

extension Pronouncer {
    /// Of each vowel, and then of each consonant: its name among the networks' symbols, for espeak-ng and for flite. Sounds that English does
    /// not have are said as the nearest that it has.
    private static let vowels: [String: (espeak: String, flite: String)] = [
        "i": ("i:", "iy"), "ɪ": ("I", "ih"), "ɛ": ("E", "eh"), "æ": ("a", "ae"), "ʌ": ("V", "ah"), "ɑ": ("A:", "aa"),
        "ɔ": ("O:", "ao"), "ʊ": ("U", "uh"), "u": ("u:", "uw"), "ɝ": ("3:", "er"), "eɪ": ("eI", "ey"),
        "aɪ": ("aI", "ay"),
        "aʊ": ("aU", "aw"), "oʊ": ("oU", "ow"), "ɔɪ": ("OI", "oy"), "a": ("A:", "aa"), "e": ("eI", "ey"),
        "o": ("oU", "ow"),
        "ɒ": ("A:", "aa"), "ɜ": ("3:", "er"), "eə": ("e@", "eh"), "ɪə": ("i@", "iy"), "y": ("i:", "iy"),
        "ʏ": ("I", "ih"),
        "ø": ("3:", "er"), "œ": ("E", "eh"), "ɨ": ("I", "ih"), "ɯ": ("u:", "uw"), "ʉ": ("u:", "uw"), "ɤ": ("V", "ah"),
    ]
    /// Vowels that never have the stress.
    private static let weak: [String: (espeak: String, flite: String)] = [
        "ə": ("@", "ax"), "ɚ": ("3", "er"), "ɐ": ("@", "ax"), "ɘ": ("@", "ax"), "ɵ": ("@", "ax"), "ᵊ": ("@", "ax"),
    ]
    private static let consonants: [String: (espeak: String, flite: String)] = [
        "p": ("p", "p"), "b": ("b", "b"), "t": ("t", "t"), "d": ("d", "d"), "k": ("k", "k"), "g": ("g", "g"),
        "ɡ": ("g", "g"), "f": ("f", "f"), "v": ("v", "v"), "θ": ("T", "th"), "ð": ("D", "dh"), "s": ("s", "s"),
        "z": ("z", "z"), "ʃ": ("S", "sh"), "ʒ": ("Z", "zh"), "h": ("h", "hh"), "m": ("m", "m"), "n": ("n", "n"),
        "ŋ": ("N", "ng"), "l": ("l", "l"), "ɹ": ("r", "r"), "r": ("r", "r"), "j": ("j", "y"), "w": ("w", "w"),
        "t͡ʃ": ("tS", "ch"), "d͡ʒ": ("dZ", "jh"), "ɾ": ("t#", "dx"), "x": ("h", "hh"), "ç": ("S", "sh"), "ʔ": ("?", "t"),
        "t͡ɕ": ("tS", "ch"), "ɕ": ("S", "sh"), "ʑ": ("Z", "zh"), "ʂ": ("S", "sh"), "ʐ": ("Z", "zh"), "ɫ": ("l", "l"),
        "ɦ": ("h", "hh"), "χ": ("h", "hh"), "ʁ": ("r", "r"), "ʀ": ("r", "r"), "ɻ": ("r", "r"), "ɲ": ("n", "n"),
        "ʎ": ("l", "l"), "β": ("b", "b"), "ɣ": ("g", "g"), "ʋ": ("v", "v"), "ɱ": ("m", "m"), "c": ("k", "k"),
        "ɟ": ("g", "g"), "ɸ": ("f", "f"), "ɰ": ("w", "w"),
    ]

    /// The sounds as a synthesizer takes them, those of espeak-ng with a bar between, with the stress on the first vowel that may have it; nil for a sound that it has nothing like.
    public func notation(_ notation: SoundNotation, of pronunciation: Pronunciation) -> String? {
        var (parts, isStressed): ([String], Bool) = ([], false)
        for place in pronunciation.sounds {
            guard symbols.indices.contains(place) else { return nil }
            let name = symbols[place]
            let hasStress = !isStressed && Self.vowels[name] != nil
            isStressed = isStressed || hasStress
            guard let sound = Self.vowels[name] ?? Self.weak[name] ?? Self.consonants[name] else { return nil }
            switch notation {
            case .espeak: parts.append((hasStress ? "'" : "") + sound.espeak)
            case .flite: parts.append(sound.flite + (hasStress ? "1" : ""))
            }
        }
        return parts.joined(separator: notation == .espeak ? "|" : " ")
    }
}
