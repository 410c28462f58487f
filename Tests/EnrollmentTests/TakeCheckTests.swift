import Foundation
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

    @Test(arguments: [(20.0, false), (14, false), (6, true)])
    func `a take in noise is worth asking for another`(ratio: Double, isDoubted: Bool) throws {
        let whole = try RecordedTakes.utterance("Front_Center")
        #expect(TakeCheck(whole).doubt == nil)
        var noise = QuietNoise(level: rms(whole.samples[whole.speech]) * Float(pow(10, -ratio / 20)))
        let samples = zip(whole.samples, noise.samples(whole.samples.count)).map { $0 + $1 }
        let check = TakeCheck(Utterance(samples: samples, speech: whole.speech))
        let measured = try #require(check.signalToNoise)
        // The word's own power counts beside that of the noise, and of all 50 ms the quietest are below the mean.
        #expect(measured > ratio && measured < ratio + 3, "\(measured)")
        #expect(check.fault == nil && (check.doubt != nil) == isDoubted)
        // Without anything beside the speech nothing is known of the noise.
        #expect(TakeCheck(Utterance(samples: samples, speech: 0..<samples.count)).signalToNoise == nil)
    }

    @Test func `a take that sounds hardly as its word is spelled is worth asking for another`() throws {
        let model = try RecordedTakes.model()
        let negatives = try NegativeSet(folder: RecordedTakes.folder, model: model)
        // Half of "front left" is like "wright"; a name in another language is nothing to compare with.
        let table: [(name: String, voice: String, fault: TakeFault?)] = [
            ("wright", "Front_Left", .untypical("wright")), ("mitte", "Rear_Center", nil),
            ("wright left", "Front_Left", .untypical("wright left")), ("打开", "Front_Left", nil),
        ]
        for row in table {
            var session = try Teaching(row.name, existing: nil, model: model, keepsAudio: false, negatives: negatives)
            #expect(session.doubt == nil)
            #expect(session.add(try RecordedTakes.utterance(row.voice)) == nil)
            #expect(session.doubt == row.fault, "\(row.name)")
        }
    }
}
