import Glibc
import TestSupport
import Testing

@testable import Audio

/// The rule that tells how samples are read, on synthetic values and on speech.
struct SampleReaderTests {
    /// What is read of samples that come in pieces, and how they were read at the end.
    private static func read(
        _ samples: [Float],
        _ declared: SampleReading.Declared,
        rate: Int = 16_000,
        piece: Int = 997,
        isLive: Bool = false
    ) -> (samples: [Float], reading: SampleReading, lines: [String]) {
        var reader = SampleReader(declared, rate: rate, channels: 1, isLive: isLive)
        var (read, room, lines): ([Float], [Float], [String]) = ([], [Float](repeating: 0, count: 313), [])
        func pull() {
            while true {
                let count = room.withUnsafeMutableBufferPointer { reader.pull(into: $0) }
                guard count > 0 else { return }
                read += room[..<count]
            }
        }
        var rest = samples[...]
        while !rest.isEmpty {
            pull()
            let passes = reader.isPassing
            var part = Array(rest.prefix(passes ? piece : min(piece, reader.room)))
            part.withUnsafeMutableBufferPointer { part in
                if passes { reader.pass(part) } else { reader.push(UnsafeBufferPointer(part)) }
            }
            if passes { read += part }
            rest = rest.dropFirst(part.count)
            if let line = reader.warning("X") { lines.append(line) }
        }
        reader.finish()
        pull()
        if let line = reader.warning("X", isEnd: true) { lines.append(line) }
        return (read, reader.reading, lines)
    }

    /// A voice at a peak in decibels, after some seconds of silence or noise of a step of 16 bits.
    private static func voice(_ decibels: Double, lead: Double, dither: Float) throws -> [Float] {
        let voice = try FileBlocks.readClip(path: "/usr/share/sounds/alsa/Front_Left.wav", atMost: 2)
        let gain = Self.factor(decibels) / (voice.map(\.magnitude).max() ?? 1)
        var random = SplitMix(seed: 11)
        let all = [Float](repeating: 0, count: Int(lead * 16_000)) + voice.map { $0 * gain }
        return all.map { $0 + dither * random.float(-1...1) * 0x1p-15 }
    }

    private static func factor(_ decibels: Double) -> Float { Float(pow(10, decibels / 20)) }

    private static func whole(_ samples: [Float], bits: Int) -> [Float] {
        let unit = Float(sign: .plus, exponent: bits - 1, significand: 1)
        return samples.map { max(-unit, min(unit - 1, ($0 * unit).rounded())) }
    }

    private static func unsigned(_ values: [Float], bits: Int) -> [Float] {
        values.map { $0 < 0 ? $0 + Float(sign: .plus, exponent: bits, significand: 1) : $0 }
    }

    private struct Kind: Sendable {
        let name: String
        let declared: SampleReading.Declared
        let unused: Int
        var isUnsigned = false
        let samples: @Sendable ([Float]) -> [Float]
    }

    private static let kinds: [Kind] = [
        Kind(name: "16 in 32", declared: .integers(bits: 32), unused: 16) { whole($0, bits: 16).map { $0 * 0x1p-31 } },
        Kind(name: "16 in 24", declared: .integers(bits: 24), unused: 8) { whole($0, bits: 16).map { $0 * 0x1p-23 } },
        Kind(name: "24 in 32", declared: .integers(bits: 32), unused: 8) { whole($0, bits: 24).map { $0 * 0x1p-31 } },
        Kind(name: "16 as 24 in 32", declared: .integers(bits: 32), unused: 8) {
            whole($0, bits: 16).map { $0 * 0x1p-23 }
        },
        Kind(name: "16 in 32 without sign", declared: .integers(bits: 32), unused: 16, isUnsigned: true) {
            unsigned(whole($0, bits: 16), bits: 16).map { $0 * 0x1p-31 }
        },
        Kind(name: "16 in 24 without sign", declared: .integers(bits: 24), unused: 8, isUnsigned: true) {
            unsigned(whole($0, bits: 16), bits: 16).map { $0 * 0x1p-23 }
        },
        Kind(name: "24 in 32 without sign", declared: .integers(bits: 32), unused: 8, isUnsigned: true) {
            unsigned(whole($0, bits: 24), bits: 24).map { $0 * 0x1p-31 }
        },
        Kind(name: "32", declared: .integers(bits: 32), unused: 0) { $0 },
        Kind(name: "24 as 32", declared: .integers(bits: 32), unused: 0) { whole($0, bits: 24).map { $0 * 0x1p-23 } },
        Kind(name: "24", declared: .integers(bits: 24), unused: 0) { whole($0, bits: 24).map { $0 * 0x1p-23 } },
        Kind(name: "floats", declared: .floats, unused: 0) { $0 },
        Kind(name: "16 as floats", declared: .floats, unused: -15) { whole($0, bits: 16) },
        Kind(name: "24 as floats", declared: .floats, unused: -23) { whole($0, bits: 24) },
    ]

    @Test(arguments: [0, -12, -20, -30, -40] as [Double]) func `speech is read rightly, from its first sample on`(
        _ decibels: Double
    ) throws {
        for (lead, dither) in [(0, 0), (0, 1), (2.5, 0), (2.5, 1)] as [(Double, Float)] {
            let voice = try Self.voice(decibels, lead: lead, dither: dither)
            for kind in Self.kinds {
                // Floats of 24 bits at −40 dB might as well be of 16.
                if kind.unused == -23, decibels < -30 || dither > 0 && lead > 0 { continue }
                let samples = kind.samples(voice)
                let (read, reading, lines) = Self.read(samples, kind.declared)
                let what = "\(kind.name) at \(decibels) dB, lead \(lead), dither \(dither)"
                #expect(reading.unused == kind.unused && reading.isUnsigned == kind.isUnsigned, "\(what)")
                let snr = Signals.snr(read, against: voice)
                #expect(read.count == voice.count && snr > 15, "\(what): \(snr)")
                #expect(lines.count == (kind.unused == 0 ? 0 : 1) && !lines.contains { $0.contains("\n") }, "\(lines)")
                for piece in [1, 100_000] where dither == 0 {
                    let isSame = Self.read(samples, kind.declared, piece: piece).samples == read
                    #expect(isSame, "\(what), pieces of \(piece)")
                }
            }
        }
    }

    @Test(arguments: [-110, -100, -90, -80] as [Double]) func `a quiet room is not read as if it were loud`(
        _ decibels: Double
    ) {
        var random = SplitMix(seed: 5)
        let room = (0..<160_000).map { _ -> Float in
            let noise = (0..<12).reduce(Float(0)) { sum, _ in sum + random.float(-0.5...0.5) }
            return noise * Self.factor(decibels)
        }
        for silence in [0, 32_000] {
            let lead = [Float](repeating: 0, count: silence)
            for (bits, step) in [(32, 24), (24, 24), (32, 32)] where step < 32 || decibels > -105 {
                let samples =
                    lead
                    + Self.whole(room, bits: step).map { $0 / Float(sign: .plus, exponent: step - 1, significand: 1) }
                let (read, reading, lines) = Self.read(samples, .integers(bits: bits))
                #expect(reading.isDeclared && read == samples, "\(bits) bits of \(step), \(silence)")
                #expect(lines.count == 1 && lines.first?.contains("record with S16_LE") == true, "\(lines)")
            }
        }
    }

    @Test func `no pop changes the scale of floats, before or after words`() throws {
        let voice = try Self.voice(-6, lead: 0, dither: 0.1)
        for pop: Float in [8.1, 40_000, 1e9] {
            for length in [1, 100, 1600] {
                for place in [0, 100, 9000, 40_000] {
                    var samples = voice + voice + voice
                    for index in place..<place + length { samples[index] = pop }
                    for isLive in [false, true] {
                        // A live source that begins with whole numbers learns more after them.
                        let from = isLive ? 3200 : 0
                        let (read, reading, _) = Self.read(samples, .floats, isLive: isLive)
                        #expect(
                            reading.isDeclared && read.dropFirst(from) == samples.map { min(8, $0) }.dropFirst(from),
                            "\(pop), \(length) at \(place)"
                        )
                    }
                    let whole = Self.whole(voice + voice + voice, bits: 16)
                    var spoilt = whole
                    for index in place..<place + length { spoilt[index] = pop * 32_768 }
                    #expect(Self.read(spoilt, .floats).reading.unused == -15, "\(pop), \(length) at \(place)")
                }
            }
        }
    }

    @Test func `amplified floats keep their scale`() throws {
        let voice = try Self.voice(0, lead: 0.5, dither: 1)
        for gain: Float in [2, 10, 40, 100] {
            let (read, reading, lines) = Self.read(voice.map { $0 * gain }, .floats)
            #expect(reading.isDeclared && lines.isEmpty, "\(gain)")
            #expect(read == voice.map { max(-8, min(8, $0 * gain)) })
        }
    }

    @Test func `a live source learns while it passes, and louder audio corrects it`() throws {
        let voice = try Self.voice(-12, lead: 1, dither: 0.5)
        let narrow = Self.whole(voice + voice, bits: 16).map { $0 * 0x1p-31 }
        let live = Self.read(narrow, .integers(bits: 32), isLive: true)
        #expect(live.reading.unused == 16 && live.lines.count == 1 && live.samples.count == narrow.count)
        #expect(Signals.snr(live.samples.suffix(voice.count), against: voice) > 15)
        // Very quiet speech of all bits, then louder.
        let quiet = voice.map { $0 * 0x1p-9 }
        let (read, reading, lines) = Self.read(quiet + voice, .integers(bits: 32))
        #expect(
            reading.isDeclared && lines.count == 2 && lines.last?.contains("now louder than 24 bits") == true,
            "\(lines)"
        )
        #expect(Signals.snr(read.suffix(voice.count / 2), against: voice.suffix(voice.count / 2)) > 100)
    }
}
