import Core
import Testing

@testable import Audio

/// The taps that resamplers share. One after the other: what is shared is counted.
@Suite(.serialized) struct FilterBankTests {
    @Test func `filters of one rate share their taps, computed once`() throws {
        let before = FilterBank.counts
        var resamplers: [PolyphaseFilter] = []
        // A rate that no other test uses.
        for _ in 0..<50 { resamplers.append(try #require(PolyphaseFilter(from: 37_000))) }
        let after = FilterBank.counts
        #expect(after.computed - before.computed >= 1)
        // Other tests may compute other rates meanwhile; 50 of this one would be noticed.
        #expect(after.computed - before.computed < 25)
        #expect(resamplers.count == 50)
    }

    @Test func `taps of rates that nobody uses any more are freed`() throws {
        // Each has 330 kB of taps: together they would be 33 MB.
        for rate in stride(from: 100_125, to: 150_000, by: 500) { _ = PolyphaseFilter(from: rate) }
        // What other tests use, and 2 MiB.
        #expect(FilterBank.counts.bytes < 16 << 20)
    }

    @Test func `a shared resampler of any rate needs little memory of its own`() throws {
        let before = FilterBank.counts
        var kept: [PolyphaseFilter] = []
        // With taps of all of these it would be hundreds of megabytes.
        for rate in stride(from: 8_001, to: 192_000, by: 1_001) where !Resampler.commonRates.contains(rate) {
            if let filter = PolyphaseFilter(from: rate, largest: 32 << 10) { kept.append(filter) }
            _ = try Resampler(from: rate, quality: .shared)
        }
        #expect(FilterBank.counts.bytes - before.bytes < 8 << 20)
    }

    @Test func `a shared resampler keeps what words need, at every rate`() throws {
        for rate in [8_000, 14_999, 16_001, 22_050, 44_100, 48_000, 50_001] {
            let tone = 2_500.0
            let output = try ResamplerTests.convert(
                Signals.sine(tone, rate: rate, seconds: 0.2),
                rate: rate,
                quality: .shared
            )
            #expect(output.count == 3_200)
            let fit = Signals.fit(tone, in: ResamplerTests.middle(output), rate: 16_000)
            #expect(abs(Signals.decibels(fit.amplitude / 0.9)) < 0.1, "\(rate) Hz")
        }
    }
}
