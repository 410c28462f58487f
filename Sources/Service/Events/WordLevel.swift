import Core
public import JSON

/// How loud a word was, and how far it stood above the noise before it: what several devices that heard the same word compare.
public struct WordLevel: Equatable, Sendable {
    /// The word's level in dB below full scale: that of the louder half of its frames, as its bounds are estimates.
    public let level: Double
    /// Ratio of the word's power to that of the noise before it, in dB, −20…80; nil if too little audio stands before it.
    ///
    /// The noise is the power that three quarters of the frames before the word exceed, so that speech before it does not count.
    public let signalToNoise: Double?

    /// Seconds before the word that the noise is taken from.
    public static let lookBehind = 2.0
    /// Samples of a frame: 20 ms. At least 15 frames tell the noise.
    private static let frame = AudioFormat.sampleRate / 50
    private static let leastFrames = 15
    /// The lowest noise, −90 dBFS, so that digital silence gives a number.
    private static let floor = 1e-9

    public init(level: Double, signalToNoise: Double?) {
        self.level = level
        self.signalToNoise = signalToNoise
    }

    /// - Parameters:
    ///   - samples: `[samples]` at 16 kHz, full scale 1: the audio before the word, then the word.
    ///   - start: index of the word's first sample.
    /// - Returns: nil if there is less than a frame of the word.
    public init?(samples: [Float], start: Int) {
        guard (0...samples.count).contains(start) else { return nil }
        let word = Self.powers(samples[start...])
        guard !word.isEmpty else { return nil }
        let louder = word.sorted().suffix((word.count + 1) / 2)
        let power = louder.reduce(0, +) / Double(louder.count)
        level = decibels(power)
        let before = Self.powers(samples[..<start]).sorted()
        guard before.count >= Self.leastFrames else {
            signalToNoise = nil
            return
        }
        let noise = max(before[before.count / 4], Self.floor)
        signalToNoise = min(max(decibels(max(power - noise, 1e-12)) - decibels(noise), -20), 80)
    }

    /// Adds its members to an object: `level`, and `snr` if it is known.
    public func describe(in json: inout JSON) {
        json.append(["level": .number(level, places: 1)])
        if let signalToNoise { json.append(["snr": .number(signalToNoise, places: 1)]) }
    }

    /// The mean square of each whole frame.
    private static func powers(_ samples: ArraySlice<Float>) -> [Double] {
        (0..<samples.count / frame).map { number in
            let first = samples.startIndex + number * frame
            return samples[first..<first + frame].reduce(0) { $0 + Double($1) * Double($1) } / Double(frame)
        }
    }
}
