import Audio
import Glibc
import TestSupport
import Testing

@Suite struct ResamplerTests {
    /// Rates with a polyphase filter of their own.
    static let commonRates = [
        8_000, 11_025, 12_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000,
    ]
    /// The same, and rates that need a converter of libsamplerate.
    static let rates = commonRates + [14_999, 20_001, 44_056]

    /// Resamples a signal in chunks of the given size.
    static func convert(
        _ input: [Float],
        rate: Int,
        quality: Resampler.Quality = .standard,
        pieces: () -> (input: Int, output: Int) = { (.max, 4096) }
    ) throws -> [Float] {
        var resampler = try Resampler(from: rate, quality: quality)
        return try convert(input, &resampler, pieces: pieces)
    }

    static func convert(
        _ input: [Float],
        _ resampler: inout Resampler,
        pieces: () -> (input: Int, output: Int) = { (.max, 4096) }
    ) throws -> [Float] {
        var output: [Float] = []
        var taken = 0
        while true {
            let piece = pieces()
            let end = taken + min(piece.input, input.count - taken)
            var room = [Float](repeating: 0, count: piece.output)
            var span = room.mutableSpan
            let progress = try resampler.process(
                input.span.extracting(taken..<end),
                into: &span,
                endOfInput: end == input.count
            )
            taken += progress.consumed
            output += room.prefix(progress.produced)
            if end == input.count, taken == end, progress.produced == 0 { return output }
        }
    }

    static func middle(_ samples: [Float]) -> ArraySlice<Float> { samples[samples.count / 4..<samples.count * 3 / 4] }

    struct Row {
        var ripple = 0.0
        var rejection = 999.0
        var worstTone = 0.0
        var snr = 999.0
    }

    static func measure(_ rate: Int, _ quality: Resampler.Quality) throws -> Row {
        var row = Row()
        let edge = min(7_000, 0.9 * Double(rate) / 2)
        for step in 0...16 {
            let tone = 100 + (edge - 100) * Double(step) / 16
            let output = try convert(Signals.sine(tone, rate: rate, seconds: 0.1), rate: rate, quality: quality)
            let fit = Signals.fit(tone, in: middle(output), rate: 16_000)
            row.ripple = max(row.ripple, abs(Signals.decibels(fit.amplitude / 0.9)))
            row.snr = min(row.snr, Signals.decibels(fit.amplitude / 2.0.squareRoot() / fit.rest))
        }
        let nyquist = Double(rate) / 2
        if nyquist > 8_000 {
            // Tones close together in the transition band, then over the whole range that aliases.
            let near = (0..<20).map { 8_005 + 60 * Double($0) }
            let far = (0..<24).map { 9_200 + (nyquist * 0.999 - 9_200) * Double($0) / 23 }
            for tone in near + far where tone < nyquist {
                let output = try convert(Signals.sine(tone, rate: rate, seconds: 0.08), rate: rate, quality: quality)
                let level = -Signals.decibels(Signals.rms(middle(output)) / (0.9 / 2.0.squareRoot()))
                if level < row.rejection { (row.rejection, row.worstTone) = (level, tone) }
            }
        }
        return row
    }

    @Test func numbers() throws {
        var table = "   rate  quality   ripple dB  rejection dB  at Hz     SNR dB\n"
        for rate in Self.rates {
            for quality in Resampler.Quality.allCases {
                // There it is not flat.
                if quality == .shared, rate == 14_999 { continue }
                let row = try Self.measure(rate, quality)
                let rejection =
                    row.worstTone > 0
                    ? Signals.cell(row.rejection, width: 13) + Signals.cell(row.worstTone, width: 9, decimals: 0)
                    : "            –        –"
                let name = "\(quality)"
                table += Signals.cell(Double(rate), width: 9, decimals: 0)
                table += " " + name + String(repeating: " ", count: 9 - name.count)
                table += Signals.cell(row.ripple, decimals: 4) + rejection + Signals.cell(row.snr) + "\n"
                #expect(row.ripple < 0.1, "\(rate) Hz, \(quality): ripple \(row.ripple) dB")
                #expect(row.rejection >= 90, "\(rate) Hz, \(quality): \(row.rejection) dB at \(row.worstTone) Hz")
                #expect(row.snr >= 98, "\(rate) Hz, \(quality): SNR \(row.snr) dB")
            }
        }
        print(table)
    }

    @Test(arguments: [
        8_000, 8_001, 11_025, 15_999, 16_000, 16_001, 17_000, 22_050, 32_000, 44_056, 44_100, 48_000, 191_999, 192_000,
    ])
    func lengthIsExact(rate: Int) throws {
        for frames in [0, 1, 2, 3, 7, rate / 100, rate / 10 - 1, 5_003] {
            let output = try Self.convert([Float](repeating: 0.1, count: frames), rate: rate)
            #expect(output.count == (frames * 16_000 + rate - 1) / rate, "\(frames) frames at \(rate) Hz")
            #expect(output.count == Resampler.outputLength(of: frames, at: rate))
        }
    }

    @Test(arguments: rates + [16_000, 17_000])
    func cutsDoNotMatter(rate: Int) throws {
        let input = Signals.noise(count: rate / 5, seed: UInt64(rate))
        let whole = try Self.convert(input, rate: rate)
        var random = SplitMix(seed: 7)
        let cut = try Self.convert(input, rate: rate) {
            random.below(4) == 0 ? (random.below(3), 1 + random.below(5)) : (random.below(900), 1 + random.below(1600))
        }
        #expect(cut.map(\.bitPattern) == whole.map(\.bitPattern))
    }

    @Test(arguments: commonRates) func `an impulse stays at its time`(rate: Int) throws {
        // A time that both rates have a sample at.
        let seconds = 0.04
        var input = [Float](repeating: 0, count: rate / 10)
        let place = Int((seconds * Double(rate)).rounded())
        input[place] = 1
        let output = try Self.convert(input, rate: rate)
        let centre = 640
        #expect(output.indices.max { output[$0] < output[$1] } == centre)
        for distance in 1...300 {
            #expect(abs(output[centre - distance] - output[centre + distance]) < 1e-7, "\(distance) samples away")
        }
        // A low-pass spreads the impulse: its samples sum to the ratio of the rates.
        let sum = output.reduce(0) { $0 + Double($1) }
        #expect(abs(sum * Double(rate) / 16_000 - 1) < 1e-4)
    }

    @Test(arguments: rates) func `a sweep agrees with libsamplerate's best converter`(rate: Int) throws {
        // From 50 Hz to the edge of the passband in half a second.
        let (count, edge) = (rate / 2, min(7_000, 0.9 * Double(rate) / 2))
        let input = (0..<count).map { index in
            let time = Double(index) / Double(rate)
            return Float(0.9 * sin(2 * Double.pi * (50 * time + (edge - 50) * time * time)))
        }
        let standard = try Self.convert(input, rate: rate)
        let best = try Self.convert(input, rate: rate, quality: .best)
        let snr = Signals.snr(Self.middle(standard), against: Self.middle(best))
        print("\(rate) Hz: a sweep is within \(Signals.cell(snr, width: 0)) dB of the best converter's")
        #expect(snr >= 100, "\(snr) dB")
    }

    @Test(arguments: commonRates) func `output follows its input within a few milliseconds`(rate: Int) throws {
        var resampler = try Resampler(from: rate)
        let input = [Float](repeating: 0.1, count: rate / 10)
        var room = [Float](repeating: 0, count: 2_000)
        var made = 0
        var span = room.mutableSpan
        made += try resampler.process(input.span, into: &span, endOfInput: false).produced
        let late = Double(1_600 - made) / 16_000
        #expect(late <= (rate < 16_000 ? 0.009_1 : 0.003_5), "\(late) s")
    }

    @Test(arguments: [8_000, 22_050, 48_000]) func timeStays(rate: Int) throws {
        let output = try Self.convert(Signals.sine(1_000, rate: rate, seconds: 0.1), rate: rate)
        let snr = Signals.snr(
            Self.middle(output),
            against: Self.middle(Signals.sine(1_000, rate: 16_000, seconds: 0.1))
        )
        #expect(snr > 80, "\(snr) dB against the sine itself: shifted?")
    }

    @Test func resetForgets() throws {
        let input = Signals.noise(count: 3_000, seed: 3)
        var resampler = try Resampler(from: 48_000)
        let first = try Self.convert(input, &resampler)
        try resampler.reset()
        #expect(try Self.convert(input, &resampler) == first)
    }

    @Test func `filters that were computed before give the same samples`() throws {
        let input = Signals.noise(count: 3_000, seed: 4)
        // More rates than filters are kept.
        let first = try Self.rates.map { try Self.convert(input, rate: $0) }
        for _ in 0..<2 {
            #expect(try Self.rates.map { try Self.convert(input, rate: $0) } == first)
            #expect(try Self.rates.reversed().map { try Self.convert(input, rate: $0) } == first.reversed())
        }
    }

    @Test(arguments: [0, -1, 7_999, 192_001, Int.max]) func refusesRate(rate: Int) {
        let error = #expect(throws: AudioError.self) { _ = try Resampler(from: rate) }
        #expect(error == .converter)
        #expect(error?.description.contains("\(rate) Hz") == true)
    }
}
