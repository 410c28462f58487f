private import Glibc

/// Estimates the highest frequency with sound in a recording.
public enum Bandwidth {
    /// Samples per frame.
    static let frame = 256
    /// Every second line of the spectrum is used; at 16 kHz these are 125 Hz apart.
    static let lineStep = 2
    /// Lines this far below the strongest one count as silent, in dB.
    static let range = 60.0
    /// Frames quieter than the loudest by more than this, in dB, are left out: they are noise between words.
    static let loudness = 25.0
    /// Largest number of frames analysed.
    static let frames = 300

    /// The highest frequency with sound, in Hz; nil where there is no sound at all.
    ///
    /// Taken from the mean power spectrum of up to 300 of the louder frames; a direct DFT of 63 lines is fast enough for these.
    public static func highest(of samples: [Float], sampleRate: Int) -> Double? {
        let loud = loudFrames(samples)
        guard !loud.isEmpty else { return nil }
        let window = hann(frame)
        let cosines = (0..<frame).map { cos(2 * Double.pi * Double($0) / Double(frame)) }
        let lines = Array(stride(from: lineStep, to: frame / 2, by: lineStep))
        var powers = [Double](repeating: 0, count: lines.count)
        for start in evenly(loud, count: frames) {
            let weighed = zip(samples[start..<start + frame], window).map { Double($0) * $1 }
            for (index, line) in lines.enumerated() {
                var (re, im) = (0.0, 0.0)
                for place in 0..<frame {
                    // sin(x) is cos(x − π/2): three quarters of a frame further in the table.
                    re += weighed[place] * cosines[place * line % frame]
                    im += weighed[place] * cosines[(place * line + frame * 3 / 4) % frame]
                }
                powers[index] += re * re + im * im
            }
        }
        guard let strongest = powers.max(), strongest > 0 else { return nil }
        let least = strongest * pow(10, -range / 10)
        guard let last = powers.lastIndex(where: { $0 >= least }) else { return nil }
        return Double(lines[last]) * Double(sampleRate) / Double(frame)
    }

    /// First samples of the louder frames.
    private static func loudFrames(_ samples: [Float]) -> [Int] {
        guard samples.count >= frame else { return [] }
        let starts = stride(from: 0, through: samples.count - frame, by: frame)
        let levels = starts.map { start in
            samples[start..<start + frame].reduce(0.0) { $0 + Double($1) * Double($1) }
        }
        guard let loudest = levels.max(), loudest > 0 else { return [] }
        let least = loudest * pow(10, -loudness / 10)
        return zip(starts, levels).filter { $1 >= least }.map(\.0)
    }
}
