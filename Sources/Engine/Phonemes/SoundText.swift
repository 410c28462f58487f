private import Core

extension Pronouncer {
    /// The sounds of ARPAbet, as English dictionaries write them.
    private static let arpabet = [
        "AA": "ɑ", "AE": "æ", "AH": "ʌ", "AO": "ɔ", "AW": "aʊ", "AY": "aɪ", "B": "b", "CH": "t͡ʃ", "D": "d", "DH": "ð",
        "EH": "ɛ", "ER": "ɝ", "EY": "eɪ", "F": "f", "G": "g", "HH": "h", "IH": "ɪ", "IY": "i", "JH": "d͡ʒ", "K": "k",
        "L": "l", "M": "m", "N": "n", "NG": "ŋ", "OW": "oʊ", "OY": "ɔɪ", "P": "p", "R": "ɹ", "S": "s", "SH": "ʃ",
        "T": "t", "TH": "θ", "UH": "ʊ", "UW": "u", "V": "v", "W": "w", "Y": "j", "Z": "z", "ZH": "ʒ",
    ]
    /// Other ways to write a sound, with the way in which the networks write it.
    private static let others = [
        "ɡ": "g", "r": "ɹ", "tʃ": "t͡ʃ", "dʒ": "d͡ʒ", "ʧ": "t͡ʃ", "ʤ": "d͡ʒ", "əʊ": "oʊ", "ɜː": "ɝ", "ɜ": "ɝ", "ɐ": "ə",
        "ᵻ": "ɪ",
        "y": "i", "ø": "ɝ", "œ": "ɛ", "ʁ": "ɹ", "x": "h", "ç": "ʃ", "ɲ": "n", "a": "ɑ", "e": "eɪ", "o": "oʊ",
        "ɔʏ": "ɔɪ", "ɒ": "ɑ",
        "əl": "ə l", "ɫ": "l", "ʀ": "ɹ", "β": "b", "ɣ": "g", "ʎ": "l", "c": "k", "ɟ": "g",
    ]
    /// Marks that say nothing about which sound it is: stress, length, ties and pauses.
    private static let marks: Set<Unicode.Scalar> = [
        "ˈ", "ˌ", "ː", "ˑ", "'", "/", "[", "]", ".", "\u{303}", "\u{329}", "\u{32F}", "ʰ",
    ]
    private static let tie: Unicode.Scalar = "\u{361}"

    /// A pronunciation that is written in IPA or ARPAbet, `h eɪ h aʊ s` or `HH EY1 HH AW1 S`; IPA may be without spaces.
    ///
    /// - Throws: ``PronunciationError``.
    public func pronunciation(written text: String) throws(PronunciationError) -> Pronunciation {
        var sounds: [Int] = []
        for part in text.split(whereSeparator: \.isWhitespace) {
            // Without the digit for the stress.
            let plain = part.last?.isNumber == true ? part.dropLast() : part
            sounds += try places(of: Self.arpabet[String(plain)] ?? String(part), in: part)
        }
        guard !sounds.isEmpty else {
            throw PronunciationError("--sounds has no sounds; write IPA, such as: h eɪ h aʊ s")
        }
        guard sounds.count <= Limit.sounds else {
            throw PronunciationError(
                "--sounds has \(sounds.count) sounds, more than \(Limit.sounds); choose a shorter name"
            )
        }
        return Pronunciation(sounds)
    }

    /// The sounds of IPA without spaces: always the longest that is known.
    private func places(of text: String, in part: Substring) throws(PronunciationError) -> [Int] {
        let scalars = Array(text.unicodeScalars.filter { !Self.marks.contains($0) })
        var (sounds, place): ([Int], Int) = ([], 0)
        search: while place < scalars.count {
            for length in stride(from: min(4, scalars.count - place), to: 0, by: -1) {
                let piece = String(String.UnicodeScalarView(scalars[place..<place + length]))
                guard let known = self.sounds(named: piece) else { continue }
                sounds += known
                place += length
                continue search
            }
            if scalars[place] == Self.tie {
                place += 1
                continue
            }
            throw PronunciationError(
                "--sounds: '\(printable(String(Character(scalars[place]))))' in '\(printable(String(part)))' is no sound that is known; "
                    + "write IPA, such as: h eɪ h aʊ s, or ARPAbet"
            )
        }
        return sounds
    }

    /// The symbols of one sound; nil for none.
    private func sounds(named name: String) -> [Int]? {
        if let other = Self.others[name] {
            let places = other.split(separator: " ").compactMap { place(of: String($0)) }
            if !places.isEmpty { return places }
        }
        return place(of: name).map { [$0] }
    }
}
