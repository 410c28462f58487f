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
        // A row's angles are evenly spaced: each sine follows from the one before by a rotation.
        let step = Double.pi * cutOff
        let (turnSine, turnCosine) = (sin(step), cos(step))
        var taps = [Double](repeating: 0, count: phases * tapCount)
        for phase in 0...phases / 2 {
            // Mirroring the time turns this phase into another, and phase 0 into itself.
            let mirrored = phase == 0 ? tapCount - 2 : (phases - phase) * tapCount + tapCount - 1
            var offset = -half - Double(phase) / Double(phases)
            var (sine, cosine) = (sin(step * offset), cos(step * offset))
            for tap in 0..<tapCount {
                let place = offset / half
                if abs(place) <= 1 {
                    let sinc = abs(offset) < 1e-9 ? 1 : sine / (step * offset)
                    let weight = sinc * besselOfRoot(beta * beta / 4 * (1 - place * place))
                    taps[phase * tapCount + tap] = weight
                    taps[mirrored - tap] = weight
                }
                (sine, cosine) = (sine * turnCosine + cosine * turnSine, cosine * turnCosine - sine * turnSine)
                offset += 1
            }
        }
        let gain = Double(phases) / taps.reduce(0, +)
        return taps.map { Float($0 * gain) }
    }
}

/// The modified Bessel function I0 of `2 √x`, by its power series `Σ xᵏ / (k!)²`; exact to 1e-15 up to x = 60.
private func besselOfRoot(_ x: Double) -> Double {
    var sum = 0.0
    for coefficient in inverseSquaredFactorials { sum = sum * x + coefficient }
    return sum
}

/// `1 / (k!)²`, from k = 45 down to 0.
private let inverseSquaredFactorials: [Double] = {
    var factors = [1.0]
    for number in 1...45 { factors.append(factors[number - 1] / Double(number * number)) }
    return factors.reversed()
}()
