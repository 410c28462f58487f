private import Glibc

/// How loud a recording is, and how loud its quiet parts are, in dB relative to full scale (mean square 1 is 0 dB).
///
/// The mean of the samples is taken off first, so that a DC offset does not pass for sound.
public struct Levels: Sendable, Equatable {
    /// Digital silence.
    public static let least = -120.0
    /// Length of a frame in seconds.
    static let frameSeconds = 0.025
    /// Frames in the stretch whose level stands for what was said: 0.4 s, as long as a short word.
    static let loudFrames = 16

    /// Of the whole recording.
    public let overall: Double
    /// Of the loudest 0.4 s.
    public let loudest: Double
    /// Of the frame that a tenth of all frames are quieter than: the background.
    public let floor: Double

    public init(_ samples: [Float], sampleRate: Int) {
        let mean = samples.isEmpty ? 0 : samples.reduce(0.0) { $0 + Double($1) } / Double(samples.count)
        let length = max(1, Int(Double(sampleRate) * Levels.frameSeconds))
        var frames: [Double] = []
        var total = 0.0
        for start in stride(from: 0, to: samples.count, by: length) {
            let frame = samples[start..<min(start + length, samples.count)]
            let energy = frame.reduce(0.0) { sum, sample in
                let value = Double(sample) - mean
                return sum + value * value
            }
            total += energy
            // The last frame may be short; it would say little.
            if frame.count == length || frames.isEmpty { frames.append(energy / Double(frame.count)) }
        }
        overall = decibels(samples.isEmpty ? 0 : total / Double(samples.count))
        floor = frames.isEmpty ? Levels.least : decibels(frames.sorted()[(frames.count - 1) / 10])

        let stretch = min(Levels.loudFrames, frames.count)
        var sum = frames.prefix(stretch).reduce(0, +)
        var best = sum
        for index in stretch..<max(stretch, frames.count) {
            sum += frames[index] - frames[index - stretch]
            best = max(best, sum)
        }
        loudest = decibels(stretch > 0 ? best / Double(stretch) : 0)
    }
}

/// A mean square in dB relative to full scale; nothing is less than −120.
public func decibels(_ meanSquare: Double) -> Double { 10 * log10(max(meanSquare, 1e-12)) }
