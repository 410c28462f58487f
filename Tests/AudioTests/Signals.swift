import Audio
import Glibc
import TestSupport

/// Test signals and measurements on them.
enum Signals {
    static func sine(_ frequency: Double, rate: Int, seconds: Double, amplitude: Double = 0.9) -> [Float] {
        let step = 2 * Double.pi * frequency / Double(rate)
        return (0..<Int(seconds * Double(rate))).map { Float(amplitude * sin(step * Double($0) + 0.3)) }
    }

    static func noise(count: Int, seed: UInt64) -> [Float] {
        var random = SplitMix(seed: seed)
        return (0..<count).map { _ in random.float(-0.5...0.5) }
    }

    static func decibels(_ ratio: Double) -> Double { 20 * log10(max(ratio, 1e-12)) }

    static func rms(_ samples: ArraySlice<Float>) -> Double {
        var sum = 0.0
        for sample in samples { sum += Double(sample) * Double(sample) }
        return (sum / Double(max(1, samples.count))).squareRoot()
    }

    /// Fits a sine of a known frequency by least squares; returns its amplitude and the RMS of the residual.
    static func fit(_ frequency: Double, in samples: ArraySlice<Float>, rate: Int) -> (amplitude: Double, rest: Double)
    {
        let step = 2 * Double.pi * frequency / Double(rate)
        var (ss, cc, sc, ys, yc, yy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for (index, sample) in samples.enumerated() {
            let (s, c, y) = (sin(step * Double(index)), cos(step * Double(index)), Double(sample))
            ss += s * s
            cc += c * c
            sc += s * c
            ys += y * s
            yc += y * c
            yy += y * y
        }
        let determinant = ss * cc - sc * sc
        let (a, b) = ((ys * cc - yc * sc) / determinant, (yc * ss - ys * sc) / determinant)
        var rest = 0.0
        for (index, sample) in samples.enumerated() {
            let error = Double(sample) - a * sin(step * Double(index)) - b * cos(step * Double(index))
            rest += error * error
        }
        return ((a * a + b * b).squareRoot(), (rest / Double(samples.count)).squareRoot())
    }

    /// Signal-to-noise ratio of `decoded` against `original`, in dB.
    static func snr(_ decoded: some Collection<Float>, against original: some Collection<Float>) -> Double {
        var (signal, noise) = (0.0, 0.0)
        for (left, right) in zip(decoded, original) {
            signal += Double(right) * Double(right)
            noise += Double(left - right) * Double(left - right)
        }
        return 10 * log10(max(signal, 1e-30) / max(noise, 1e-30))
    }

    /// A number with two decimals, right-aligned.
    static func cell(_ value: Double, width: Int = 9, decimals: Int = 1) -> String {
        let scale = pow(10, Double(decimals))
        let text = "\((value * scale).rounded() / scale)"
        return String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

extension SplitMix {
    /// A number from 0 to below the limit.
    mutating func below(_ limit: Int) -> Int { int(0...max(0, limit - 1)) }
}
