import Inference
import Phonemes
import Spotting
import TestSupport
import Testing

@testable import Reports

/// The picture of a word's sounds: the nearest moment, and what was heard instead.
struct InspectSoundsTests {
    /// A recording that says "front left", traced with a typed word.
    private static func trace(_ word: String?) throws -> RecordingTrace {
        let network = try PhonemeNetwork(folder: Checkout.path + "/Models/phonemes")
        let typed = try word.map { text in
            let sounds = try #require(Pronunciation(symbols: text, among: network.symbols))
            return TypedWord(name: "lamp", pronunciations: [sounds], boundary: -1)
        }
        let model = try Model(folder: Checkout.model, confirms: false)
        let vocabulary = Vocabulary(model, typed: typed.map { [$0] } ?? [], hearing: SoundHearing(network))
        let detector = DetectorSettings(vocabulary)
        return try RecordingTrace(RecordingTrace.Settings(file: Voices.path("Front_Left"), detector))
    }

    @Test func `a word that is said has its sounds one after the other`() throws {
        let trace = try Self.trace("f ɹ ʌ n t l ɛ f t")
        let sounds = InspectSounds(trace)
        let moment = try #require(sounds.moments.first)
        #expect(sounds.moments.count == 1 && moment.path.score > -1.4)
        let rows = sounds.rows(moment)
        #expect(rows.map { $0[0] } == ["f", "ɹ", "ʌ", "n", "t", "l", "ɛ", "f", "t"])
        let page = try InspectPage(InspectReport(trace)).html()
        #expect(page.contains("Sounds of “lamp”") && page.contains("Heard instead") && page.contains("best path"))
    }

    @Test func `what was heard in place of a sound is named`() throws {
        let sounds = InspectSounds(try Self.trace("f ɹ ʌ n t m ɛ f t"))
        let moment = try #require(sounds.moments.first)
        let row = try #require(sounds.rows(moment).first { $0[0] == "m" })
        #expect(row[3].split(separator: " ").contains("l"), "\(row)")
    }

    @Test func `without such words there is no picture, and a word that is far away is told in a line`() throws {
        let none = try Self.trace(nil)
        #expect(none.vocabulary.hearing == nil && InspectSounds(none).moments.isEmpty)
        let far = try InspectPage(InspectReport(try Self.trace("ʒ ʊ ɔɪ ŋ ʒ ʊ ɔɪ ŋ"))).html()
        #expect(far.contains("Nothing in the recording sounds like it.") && !far.contains("best path"))
    }
}
