import Glibc
import TestSupport

/// Synthetic signals, at 16 kHz unless stated otherwise.
enum Signals {
    static func sine(_ hertz: Double, amplitude: Double, seconds: Double, rate: Int = 16_000) -> [Float] {
        (0..<Int(seconds * Double(rate))).map {
            Float(amplitude * sin(2 * Double.pi * hertz * Double($0) / Double(rate)))
        }
    }

    /// White noise of a known mean square in dB: evenly distributed over ±a, whose mean square is a² / 3.
    static func noise(_ level: Double, seconds: Double, seed: UInt64 = 1) -> [Float] {
        var random = SplitMix(seed: seed)
        let amplitude = (3 * pow(10, level / 10)).squareRoot()
        return (0..<Int(seconds * 16_000)).map { _ in Float(amplitude * Double.random(in: -1...1, using: &random)) }
    }

    /// Noise in syllables; `level` is the mean over a syllable, in dB.
    static func speech(_ level: Double, seconds: Double) -> [Float] {
        syllables(noise(level, seconds: seconds))
    }

    /// Makes steady sound rise and fall four times a second; its mean square does not change.
    static func syllables(_ samples: [Float]) -> [Float] {
        samples.enumerated().map { index, sample in
            // A raised cosine's mean square is 3/8.
            let swell = 0.5 - 0.5 * cos(2 * Double.pi * 4 * Double(index) / 16_000)
            return sample * Float(swell / (3.0 / 8).squareRoot())
        }
    }

    /// Noise through a windowed-sinc low-pass of 127 taps (Blackman: 74 dB and more from 350 Hz past the edge).
    static func lowPassed(_ hertz: Double, level: Double, seconds: Double) -> [Float] {
        let taps = (0..<127).map { index -> Float in
            let place = Double(index - 63)
            let x = 2 * hertz / 16_000 * place
            let sinc = place == 0 ? 1 : sin(Double.pi * x) / (Double.pi * x)
            let turn = 2 * Double.pi * Double(index) / 126
            return Float(2 * hertz / 16_000 * sinc * (0.42 - 0.5 * cos(turn) + 0.08 * cos(2 * turn)))
        }
        let source = noise(level, seconds: seconds)
        return (0..<source.count - taps.count).map { start in
            var sum: Float = 0
            for index in 0..<taps.count { sum += taps[index] * source[start + index] }
            return sum
        }
    }
}

func + (left: [Float], right: Float) -> [Float] { left.map { $0 + right } }

func mixed(_ left: [Float], _ right: [Float]) -> [Float] { zip(left, right).map(+) }
