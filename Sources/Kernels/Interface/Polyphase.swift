import Glibc

/// Geometry of a polyphase FIR filter, which resamples by the ratio `phases / step`.
///
/// Output `n` is at input `n · step / phases`. The fraction of that number selects one of `phases` sets of taps.
public struct PolyphaseShape: Sendable, Equatable {
    /// Sets of taps, at least 1.
    public var phases: Int
    /// Distance of two outputs, in units of 1/`phases` of an input; at least 1.
    public var step: Int
    /// Taps of each set, a multiple of 16.
    public var tapCount: Int

    public init(phases: Int, step: Int, tapCount: Int) {
        self.phases = phases
        self.step = step
        self.tapCount = tapCount
    }

    /// The tap that is multiplied with the input at an output's time, or with the last one before it.
    public var centre: Int { tapCount / 2 - 1 }

    /// Taps that a low-pass needs for a transition band, rounded up.
    ///
    /// - Parameters:
    ///   - transition: width of the band as a fraction of the input's sample rate.
    ///   - attenuation: of the stopband, in dB.
    public static func taps(transition: Double, attenuation: Double) -> Int {
        let needed = Int(((attenuation - 7.95) / (2.285 * 2 * Double.pi * transition)).rounded(.up))
        return (needed + 16) / 16 * 16
    }

    /// The taps of a low-pass `[phases × tapCount]`: a sinc with a Kaiser window, whose passband ripple and stopband level are equal
    /// (J. F. Kaiser, "Nonrecursive digital filter design using the I0-sinh window function", 1974). The gain at 0 Hz is 1.
    ///
    /// - Parameters:
    ///   - cutOff: as a fraction of half the input's sample rate.
    ///   - attenuation: of the stopband, in dB, more than 50.
    public func lowPass(cutOff: Double, attenuation: Double) -> [Float] {
        let beta = 0.1102 * (attenuation - 8.7)
        let half = Double(centre)
        var taps = [Double](repeating: 0, count: phases * tapCount)
        var sum = 0.0
        for phase in 0..<phases {
            for tap in 0..<tapCount {
                let offset = Double(tap - centre) - Double(phase) / Double(phases)
                let place = offset / half
                guard abs(place) <= 1 else { continue }
                let angle = Double.pi * cutOff * offset
                let sinc = offset == 0 ? 1 : sin(angle) / angle
                let weight = sinc * bessel(beta * (1 - place * place).squareRoot())
                taps[phase * tapCount + tap] = weight
                sum += weight
            }
        }
        return taps.map { Float($0 * Double(phases) / sum) }
    }
}

/// The modified Bessel function I0, by its power series.
private func bessel(_ x: Double) -> Double {
    var sum = 1.0
    var term = 1.0
    var step = 1.0
    while term > 1e-17 * sum {
        let factor = x / (2 * step)
        term *= factor * factor
        sum += term
        step += 1
    }
    return sum
}
