import Testing

@testable import Enrollment

struct UtteranceSegmenterTests {
    private static func quiet(_ seconds: Double) -> [Float] {
        var noise = QuietNoise(level: 3e-4)
        return noise.samples(Int(seconds * 16000))
    }

    @Test func `a recording of two words is two utterances, where they are`() throws {
        let (first, second) = (try RecordedTakes.voice("Front_Left"), try RecordedTakes.voice("Rear_Right"))
        let audio = Self.quiet(1) + first + Self.quiet(0.9) + second + Self.quiet(1)
        let found = UtteranceSegmenter.utterances(of: audio, try RecordedTakes.model())
        #expect(found.count == 2)
        let starts = [16000, 16000 + first.count + 14400]
        for (utterance, (start, voice)) in zip(found, zip(starts, [first, second])) {
            let speech = utterance.start + utterance.speech.lowerBound..<utterance.start + utterance.speech.upperBound
            #expect(speech.lowerBound > start - 1600 && speech.upperBound < start + voice.count + 1600)
            #expect(utterance.seconds > 0.5 && utterance.seconds < 1.5)
            // The samples are those of the recording.
            #expect(utterance.samples == Array(audio[utterance.start..<utterance.start + utterance.samples.count]))
            #expect(TakeCheck(utterance).fault == nil)
        }
    }

    @Test func `no word is found in audio without speech`() throws {
        let model = try RecordedTakes.model()
        #expect(UtteranceSegmenter.utterances(of: Self.quiet(3), model) == [])
        #expect(UtteranceSegmenter.utterances(of: [], model) == [])
        #expect(UtteranceSegmenter.utterances(of: [Float](repeating: 0, count: 40000), model) == [])
    }

    @Test func `samples are kept in 16 bits, NaN as silence and too loud ones clipped`() {
        let samples: [Float] = [0.5, .nan, 2, -2, -.infinity]
        let utterance = Utterance(samples: samples, speech: 0..<samples.count)
        #expect(utterance.pcm == [16_384, 0, 32_767, -32_768, -32_768])
    }
}
