import Audio
import Glibc
import TestSupport
import Testing

@testable import Diagnostics

/// Findings of faulty signals; a good signal has none.
struct FindingTests {
    private func findings(_ samples: [Float], rate: Int = 16_000) -> [Finding] {
        var statistics = SampleStatistics(sampleRate: rate)
        statistics.add(samples.span)
        return Finding.all(in: SignalReport(channels: [statistics], samples: samples, listeningRate: 16_000))
    }

    @Test func `a good recording has none`() {
        #expect(findings(Signals.speech(-25, seconds: 2)) == [])
    }

    @Test func `each fault is found, and no other`() {
        let good = Signals.speech(-25, seconds: 3)
        let hum = (2 * pow(10, -42.0 / 10)).squareRoot()
        let table: [(Finding.Kind, [Float], String)] = [
            (.clipped, Signals.speech(-3, seconds: 3).map { min(max($0, -1), 1) }, "clipped"),
            (.tooQuiet, Signals.speech(-45, seconds: 2), "at −4"),
            (.offset, good + 0.05, "5 % of full scale"),
            (.hum, mixed(good, Signals.sine(50, amplitude: hum, seconds: 3)), "50 Hz at −4"),
            (.narrowBand, Signals.syllables(Signals.lowPassed(3400, level: -20, seconds: 1)), "no sound above 3."),
            (.littleContrast, Signals.noise(-30, seconds: 2), "dB above the quietest"),
            (.dropouts, good + [Float](repeating: 0, count: 16_000), "25 % of the recording"),
            (.digitalSilence, [Float](repeating: 0, count: 16_000), "every sample is zero"),
        ]
        for (kind, samples, says) in table {
            let found = findings(samples)
            #expect(found.map(\.kind) == [kind], "\(kind): \(found.map(\.title))")
            #expect(found.first?.title.contains(says) == true, "\(found.map(\.title))")
        }
        #expect(Set(table.map(\.0)).union([.cancellingChannels]) == Set(Finding.Kind.allCases))
    }

    @Test func `a channel that was turned is a finding, and no serious one`() {
        let voice = Signals.speech(-25, seconds: 2)
        for (turned, title) in [
            ([1], "Channel 1 is the opposite of the others, and is turned in the mix"), ([], nil),
        ] as [([Int], String?)] {
            let report = SignalReport(
                channels: [SampleStatistics(sampleRate: 16_000)],
                faults: ChannelFaults(turned: turned, dead: [3]),
                samples: voice,
                listeningRate: 16_000
            )
            let found = Finding.all(in: report).filter { $0.kind == .cancellingChannels }
            #expect(found.map(\.title) == (title.map { [$0] } ?? []) && !found.contains(where: \.isSerious))
        }
    }

    @Test func `the most serious findings come first`() {
        let quiet = Signals.speech(-55, seconds: 2) + 0.05
        let found = findings(quiet)
        #expect(found.map(\.kind) == [.tooQuiet, .offset] && found[0].isSerious && !found[1].isSerious)
    }

    @Test func `a low sample rate is named as the cause of a narrow band`() {
        let narrow = Signals.syllables(Signals.lowPassed(3400, level: -20, seconds: 1))
        #expect(findings(narrow, rate: 8000).first { $0.kind == .narrowBand }?.meaning.contains("8000 samples") == true)
        #expect(findings(narrow, rate: 48_000).first { $0.kind == .narrowBand }?.meaning.contains("telephone") == true)
    }

    @Test func `very short recordings`() {
        #expect(findings([]).map(\.kind) == [.digitalSilence])
        #expect(findings([0.1]).allSatisfy { !$0.title.isEmpty })
        #expect(findings([Float](repeating: 0.3, count: 1000)).contains { $0.kind == .offset })
    }
}
