private import Core
private import Glibc

/// Mains hum: a steady tone at 50 or 60 Hz.
public struct Hum: Sendable, Equatable {
    /// Frequency: 50 or 60 Hz.
    public let hertz: Double
    /// In dB relative to full scale.
    public let level: Double

    /// Level from which hum is reported, in dBFS.
    static let leastLevel = -65.0
    /// Least level above the neighbouring frequencies, in dB; voices and noise stay below it.
    static let prominence = 12.0
    /// Largest number of segments analysed, evenly spread over the recording.
    static let stretches = 60

    /// Finds the stronger of the two hums; nil where there is none, or less than half a second of audio.
    ///
    /// Each segment of up to a second gets a Hann window. The level at the mains frequency is compared with the mean level three
    /// and five bins to each side. The medians over all segments decide, because hum is steady.
    public static func find(in samples: [Float], sampleRate: Int) -> Hum? {
        let length = min(samples.count, sampleRate)
        guard sampleRate > 0, length * 2 >= sampleRate else { return nil }
        let starts = evenly(Array(stride(from: 0, through: samples.count - length, by: length)), count: stretches)
        let window = hann(length)
        let resolution = Double(sampleRate) / Double(length)
        let found = [50.0, 60].compactMap { hertz -> Hum? in
            var levels: [Double] = []
            var beside: [Double] = []
            for start in starts {
                func level(_ hertz: Double) -> Double {
                    toneLevel(samples[start..<start + length], window: window, cycles: hertz / Double(sampleRate))
                }
                levels.append(level(hertz))
                let neighbours = [-5.0, -3, 3, 5].map { pow(10, level(hertz + $0 * resolution) / 10) }
                beside.append(10 * log10(neighbours.reduce(0, +) / 4))
            }
            let here = median(levels)
            guard here >= leastLevel, here - median(beside) >= prominence else { return nil }
            return Hum(hertz: hertz, level: here)
        }
        return found.max { $0.level < $1.level }
    }

    /// Level of a tone, by its projection on a rotating phasor; `cycles` are per sample.
    private static func toneLevel(_ samples: ArraySlice<Float>, window: [Double], cycles: Double) -> Double {
        let (turnRe, turnIm) = (cos(2 * Double.pi * cycles), sin(2 * Double.pi * cycles))
        var (phasorRe, phasorIm) = (1.0, 0.0)
        var (re, im, weights) = (0.0, 0.0, 0.0)
        for (sample, weight) in zip(samples, window) {
            re += Double(sample) * weight * phasorRe
            im += Double(sample) * weight * phasorIm
            weights += weight
            (phasorRe, phasorIm) = (phasorRe * turnRe - phasorIm * turnIm, phasorRe * turnIm + phasorIm * turnRe)
        }
        // A tone of amplitude a projects to a / 2 and has the mean square a² / 2.
        return decibels(2 * (re * re + im * im) / (weights * weights))
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

/// The periodic Hann window.
func hann(_ count: Int) -> [Double] {
    (0..<count).map { 0.5 - 0.5 * cos(2 * Double.pi * Double($0) / Double(count)) }
}

/// At most `count` of the elements, evenly spread.
func evenly<Element>(_ elements: [Element], count: Int) -> [Element] {
    guard elements.count > count, count > 0 else { return elements }
    return (0..<count).map { elements[$0 * elements.count / count] }
}
