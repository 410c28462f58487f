import Testing

@testable import Enrollment

struct TakeCheckTests {
    @Test func `an incomplete or badly recorded take is refused with the reason`() throws {
        let whole = try RecordedTakes.utterance("Rear_Center")
        let (samples, speech) = (whole.samples, whole.speech)
        func fault(_ samples: [Float], _ speech: Range<Int>) -> TakeFault? {
            TakeCheck(Utterance(samples: samples, speech: speech)).fault
        }
        guard case .tooQuiet(let level)? = fault(samples.map { $0 * 0.003 }, speech) else {
            Issue.record("not too quiet")
            return
        }
        #expect(level < -50)
        let loud = samples.map { max(-1, min(1, $0 * 40)) }
        guard case .clipped(let share)? = fault(loud, speech) else {
            Issue.record("not clipped")
            return
        }
        #expect(share > 0.01 && share < 0.9)
        // Cut in the middle of the loudest vowel.
        let loudest = speech.max { abs(samples[$0]) < abs(samples[$1]) } ?? 0
        #expect(fault(Array(samples[loudest...]), 0..<speech.upperBound - loudest) == .cutOff(atStart: true))
        let front = Array(samples[..<loudest])
        #expect(fault(front, speech.lowerBound..<loudest) == .cutOff(atStart: false))
        #expect(fault(samples, speech.lowerBound..<speech.lowerBound + 800) == .tooShort(0.05))
        let twice = samples + samples + samples
        let long = speech.lowerBound..<speech.lowerBound + 40000
        #expect(
            fault(twice, long.clamped(to: 0..<twice.count))
                == .tooLong(Double(min(40000, twice.count - speech.lowerBound)) / 16000, longest: 2)
        )
    }

    @Test func `a recording may be clipped more than a take that can be said again`() throws {
        let whole = try RecordedTakes.utterance("Front_Center")
        let gain = 2.5 / TakeCheck(whole).peak
        let loud = Utterance(samples: whole.samples.map { max(-1, min(1, $0 * gain)) }, speech: whole.speech)
        let clipped = TakeCheck(loud).clipped
        #expect(clipped > TakeCheck.mostClipped && clipped < TakeCheck.mostClippedInFile)
        #expect(TakeCheck(loud).fault == .clipped(clipped))
        #expect(TakeCheck(loud, mostClipped: TakeCheck.mostClippedInFile).fault == nil)
    }

    @Test func `the beginning of a noise is not a take`() throws {
        var noise = QuietNoise(level: 0.02)
        let steady = noise.samples(16000)
        // Speech of 0.2 s is found where the noise begins.
        let start = Utterance(samples: Array(repeating: 0, count: 4800) + steady, speech: 4800..<8000)
        #expect(TakeCheck(start).fault == .noSpeech)
        // A sound as short with quiet after it may be a word.
        let sound = Array(repeating: 0, count: 4800) + steady.prefix(3200) + Array(repeating: 0, count: 4800)
        #expect(TakeCheck(Utterance(samples: sound, speech: 4800..<8000)).fault == nil)
        // So may a longer one.
        #expect(TakeCheck(Utterance(samples: start.samples, speech: 4800..<12800)).fault == nil)
    }
}
