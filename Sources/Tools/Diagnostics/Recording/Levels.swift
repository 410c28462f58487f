private import Core

/// Levels of a recording and of its background, in dBFS: 10 log₁₀ of the mean square.
///
/// The mean of the samples is subtracted first, so that a DC offset does not count as sound.
public struct Levels: Sendable, Equatable {
    /// Level of digital silence, in dBFS.
    public static let least = -120.0
    /// Length of a frame in seconds.
    static let frameSeconds = 0.025
    /// Frames of the loudest segment: 0.4 s, the length of a short word.
    static let loudFrames = 16

    /// Level of the whole recording.
    public let overall: Double
    /// Level of the loudest 0.4 s.
    public let loudest: Double
    /// 10th percentile of the levels of all frames: the background.
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
            // A short last frame is left out: its level varies too much.
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
