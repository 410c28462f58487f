import Phonemes
import TestSupport
import Testing

struct PronouncerTests {
    static let pronouncer = Result { try Pronouncer(folder: PhonemeNetworkTests.folder) }

    /// The first of each is what the package `hama` 1.7.0 says, except where that writes a word as another language would.
    @Test(arguments: [
        ("hey house", "h eɪ h aʊ s"), ("computer", "k ə m p j u t ɝ"), ("Alexa", "ə l ɛ k s ə"),
        ("jarvis", "d͡ʒ ɑ ɹ v ɪ s"),
        ("view glass", "v j u g l æ s"), ("smart mirror", "s m ɑ ɹ t m ɪ ɹ ɝ"),
        ("turn on the light", "t ɝ n ɔ n ð i l aɪ t"),
        ("athena", "æ θ i n ə"), ("snowboy", "s n oʊ b ɔɪ"), ("raspberry", "ɹ æ z b ɛ ɹ i"),
        ("wake-up robot", "w eɪ k ʌ p ɹ oʊ b ə t"),
        ("o'clock", "oʊ k l ɑ k"), ("stop!", "s t ɑ p"), ("okay nabu", "oʊ k eɪ n ɑ b u"),
    ]) func `a spelled name is pronounced`(name: String, sounds: String) throws {
        let pronouncer = try Self.pronouncer.get()
        let found = try pronouncer.pronunciations(of: name)
        #expect(found.first.map(pronouncer.text) == sounds)
        #expect(Set(found).count == found.count && found.count <= Pronouncer.Limit.pronunciations)
    }

    @Test func `a name may have several pronunciations`() throws {
        let pronouncer = try Self.pronouncer.get()
        let found = try pronouncer.pronunciations(of: "computer").map(pronouncer.text)
        #expect(found == ["k ə m p j u t ɝ", "k ə m p j u t ə"])
    }

    @Test(arguments: [
        ("h eɪ h aʊ s", "h eɪ h aʊ s"), ("/ˈheɪ haʊs/", "h eɪ h aʊ s"), ("HH EY1 HH AW1 S", "h eɪ h aʊ s"),
        ("dʒɑːrvɪs", "d͡ʒ ɑ ɹ v ɪ s"), ("d͡ʒɑɹvɪs", "d͡ʒ ɑ ɹ v ɪ s"), ("CH IY1 Z", "t͡ʃ i z"),
        ("kəmˈpjuːtə", "k ə m p j u t ə"),
    ]) func `sounds are read from IPA and ARPAbet`(written: String, sounds: String) throws {
        let pronouncer = try Self.pronouncer.get()
        #expect(pronouncer.text(try pronouncer.pronunciation(written: written)) == sounds)
    }

    @Test(arguments: [
        ("", "no sounds"), ("   ", "no sounds"), ("h 5 h", "'5'"), ("你", "no sound that is known"), ("<pad>", "'<'"),
        (String(repeating: "s ", count: 61), "61 sounds"),
    ]) func `sounds that cannot be read are refused`(written: String, says: String) throws {
        let pronouncer = try Self.pronouncer.get()
        let error = #expect(throws: PronunciationError.self) { try pronouncer.pronunciation(written: written) }
        #expect(error?.message.contains(says) == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        ("", "letters"), ("- -", "letters"), ("!!", "no letters"), ("你好", "no known sound"),
        (String(repeating: "a", count: 41), "more than 40 letters"),
        (String(repeating: "banana ", count: 11), "more than 60 sounds"),
    ]) func `names that cannot be pronounced are refused`(name: String, says: String) throws {
        let pronouncer = try Self.pronouncer.get()
        let error = #expect(throws: PronunciationError.self) { try pronouncer.pronunciations(of: name) }
        #expect(error?.message.contains(says) == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        ("h eɪ h aʊ s", "h|'eI|h|aU|s", "hh ey1 hh aw s"),
        ("k ə m p j u t ɝ", "k|@|m|p|j|'u:|t|3:", "k ax m p y uw1 t er"),
        ("t͡ʃ i t ʃ i", "tS|'i:|t|S|i:", "ch iy1 t sh iy"), ("ə s", "@|s", "ax s"),
    ]) func `sounds are written as synthesizers take them, with one stress`(
        sounds: String,
        espeak: String,
        flite: String
    ) throws {
        let pronouncer = try Self.pronouncer.get()
        let said = try #require(Pronunciation(symbols: sounds, among: pronouncer.symbols))
        #expect(pronouncer.notation(.espeak, of: said) == espeak)
        #expect(pronouncer.notation(.flite, of: said) == flite)
    }

    @Test func `all that can be written in ARPAbet can be played, and a sound that no synthesizer has cannot`() throws {
        let pronouncer = try Self.pronouncer.get()
        let written =
            "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH"
        let said = try pronouncer.pronunciation(written: written)
        let flite = try #require(pronouncer.notation(.flite, of: said))
        #expect(flite == written.lowercased().replacing("aa ", with: "aa1 ", maxReplacements: 1))
        #expect(pronouncer.notation(.espeak, of: said)?.split(separator: "|").count == said.sounds.count)
        let click = try #require(Pronunciation(symbols: "s ʙ", among: pronouncer.symbols))
        #expect(pronouncer.notation(.espeak, of: click) == nil && pronouncer.notation(.flite, of: click) == nil)
        #expect(pronouncer.notation(.flite, of: Pronunciation([9999])) == nil)
    }

    @Test(arguments: [
        ("t w ɛ n t i <wb> h aʊ z", "twentee howz"), ("<wb> ð ə <wb> d͡ʒ ʌ d͡ʒ <wb>", "dhuh juj"), ("s ʙ", "sʙ"),
        ("<wb>", ""),
    ]) func `sounds are respelled for readers of English`(sounds: String, text: String) throws {
        let pronouncer = try Self.pronouncer.get()
        let places = sounds.split(separator: " ").compactMap { name in pronouncer.symbols.firstIndex { $0 == name } }
        #expect(pronouncer.respelled(places) == text)
        #expect(pronouncer.respelled([9999]) == "?")
    }
}
