import Core
import Glibc
import TestSupport
import Testing

@testable import Echo

struct EchoCancellerTests {
    /// A room: direct sound, some reflections, and a tail that fades in 50 ms.
    private static let response: [Float] = {
        var random = SplitMix(seed: 5)
        var taps = (0..<800).map { exp(-6 * Float($0) / 800) * random.float(-0.05...0.05) }
        taps[0] = 0.5
        for place in [37, 90, 151] { taps[place] += random.float(-0.3...0.3) }
        return taps
    }()

    /// Noise whose level changes, as music's does.
    private static func played(_ count: Int) -> [Float] {
        var random = SplitMix(seed: 6)
        var last: Float = 0
        return (0..<count).map { index in
            last = 0.7 * last + random.float(-0.1...0.1)
            return last * (1 + sin(Float(index) / 3000))
        }
    }

    /// The reference with a clock that is faster by some parts per million, so that it has more samples in the same time.
    private static func stretched(_ wave: [Float], _ perMillion: Double) -> [Float] {
        guard perMillion != 0 else { return wave }
        var line = ReferenceLine()
        return wave.indices.map { index in
            let place = Double(index) / (1 + perMillion / 1e6)
            while line.count <= min(Int(place) + ReferenceLine.taps, wave.count - 1) {
                line.add([wave[line.count]].span)
            }
            return line.value(at: place)
        }
    }

    /// What is heard of that, so much later.
    private static func echo(_ wave: [Float], _ delay: Int) -> [Float] {
        wave.indices.map { index in
            var sum: Float = 0
            for tap in stride(from: 0, to: min(response.count, index - delay + 1), by: 1) where response[tap] != 0 {
                sum += response[tap] * wave[index - delay - tap]
            }
            return sum
        }
    }

    private static func energy(_ wave: some Sequence<Float>) -> Float { wave.reduce(0) { $0 + $1 * $1 } }

    private static func cancelled(_ heard: [Float], _ reference: [Float], _ settings: EchoSettings) throws -> [Float] {
        var canceller = try EchoCanceller(settings)
        var result: [Float] = []
        for start in stride(from: 0, to: heard.count - 1599, by: 1600) {
            canceller.add(reference: Array(reference[start..<start + 1600]).span)
            var block = Array(heard[start..<start + 1600])
            var samples = block.mutableSpan
            canceller.cancel(in: &samples)
            result += block
        }
        return result
    }

    @Test(arguments: [(0, 0.0), (20, 0), (700, 0), (4500, 0), (3000, 60), (2000, -200)])
    func `an echo is cancelled, whatever its delay and the clocks`(delay: Int, perMillion: Double) throws {
        let count = 26 * 16_000
        let played = Self.played(count)
        let heard = Self.echo(played, delay)
        let result = try Self.cancelled(heard, Self.stretched(played, perMillion), EchoSettings(reference: 1))
        let last = result.suffix(3 * 16_000)
        let decibels = 10 * log10(Self.energy(heard[result.count - last.count..<result.count]) / Self.energy(last))
        #expect(decibels > 15)
    }

    @Test func `without sound in the reference nothing is changed`() throws {
        let heard = Self.played(48_000)
        let silence = [Float](repeating: 0, count: heard.count)
        #expect(try Self.cancelled(heard, silence, EchoSettings(reference: 1)) == heard)
    }

    @Test func `an echo whose delay changes is found again`() throws {
        let played = Self.played(26 * 16_000)
        let (early, late) = (Self.echo(played, 3000), Self.echo(played, 1200))
        let heard = played.indices.map { $0 < 10 * 16_000 ? early[$0] : late[$0] }
        let result = try Self.cancelled(heard, played, EchoSettings(reference: 1))
        let last = result.suffix(3 * 16_000)
        #expect(Self.energy(last) < 0.03 * Self.energy(heard.suffix(3 * 16_000)))
    }

    @Test func `values between samples are those of the wave`() {
        var line = ReferenceLine()
        let step = 2 * Double.pi * 3000 / 16_000
        line.add((0..<400).map { Float(sin(step * Double($0))) }.span)
        for place in [100.0, 100.25, 200.5, 300.999] {
            #expect(abs(line.value(at: place) - Float(sin(step * place))) < 1e-3)
        }
        #expect(line.value(at: 100) == Float(sin(step * 100)))
        #expect(line.value(at: 500) == 0 && line.value(at: -1) == 0)
        line.add([Float](repeating: 0, count: 40_000).span)
        #expect(line.value(at: 100.25) == 0, "older than what is kept")
    }

    @Test func `the transform is the sum that defines it`() {
        let fourier = FourierTransform(size: 16)
        var random = SplitMix(seed: 7)
        let (re, im) = ((0..<16).map { _ in random.float(-1...1) }, (0..<16).map { _ in random.float(-1...1) })
        var (real, imaginary) = (re, im)
        fourier.transform(&real, &imaginary)
        for bin in 0..<16 {
            var (a, b) = (Float(0), Float(0))
            for index in 0..<16 {
                let angle = -2 * Float.pi * Float(bin * index) / 16
                a += re[index] * cos(angle) - im[index] * sin(angle)
                b += re[index] * sin(angle) + im[index] * cos(angle)
            }
            #expect(abs(real[bin] - a) < 1e-4 && abs(imaginary[bin] - b) < 1e-4)
        }
    }
}
