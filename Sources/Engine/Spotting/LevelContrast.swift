import Core

/// The newest sound that stands out by its level from what is before and after it.
///
/// In unsteady noise, and beside somebody who talks, the activity layer finds no pause around a word. A word that is said alone is louder
/// than that, and no word of a sentence is louder than all of it.
struct LevelContrast: Sendable, Equatable {
    /// Steps since its end, steps since its beginning, and quieter steps before it; 0 where nothing stands out of noise.
    fileprivate var after: UInt8 = 0
    fileprivate var length: UInt8 = 0
    fileprivate var before: UInt8 = 0

    /// What counts as a sound that stands out.
    struct Rule: Sendable {
        /// How far below the loudest step all of a sound is, in dB.
        let drop: Float
        /// How far below the loudest step the quietest one is at most, in dB.
        let range: Float

        /// A taught word in noise, whose first look is easily misled. Of ten words by strangers in 12 dB of recorded noise a drop of 7 and
        /// 11 find as many as 9; over talk 7 has more false accepts. Speech without noise has deeper pauses, and its activity is known: of
        /// 600 words in noise ranges of 30, 33 and 36 find 522, 525 and 526; 36 has more false accepts.
        static let taughtWord = Rule(drop: 9, range: 33)
        /// A word of the model, whose networks look twice, beside somebody who talks 10 dB below, with pauses. Training/NOTES.md has others.
        static let confirmedWord = Rule(drop: 6, range: 60)
    }

    /// Seconds since its end.
    var quietAfter: Double { Double(after) * EnergyActivityDetector.stepSeconds }
    /// Seconds since its beginning.
    var seconds: Double { Double(length) * EnergyActivityDetector.stepSeconds }
    /// Seconds of lower level before it.
    var quietBefore: Double { Double(before) * EnergyActivityDetector.stepSeconds }
}

/// The levels of the last 2.4 s, in steps of 25 ms.
struct LevelHistory {
    private static let stepSamples = EnergyActivityDetector.stepSamples
    private static let steps = 96
    /// Steps in which the loudest one is looked for: 1.6 s, the longest utterance of a word.
    private static let peakSteps = 64
    /// Longest pause within a sound, in steps: 200 ms.
    private static let longestPause = 8

    /// Ring of the levels, each over three steps, in dB FS.
    private var levels = [Float](repeating: -.infinity, count: steps)
    /// Mean squares of the last two steps.
    private var energies: (Float, Float) = (0, 0)
    private var seen = 0

    /// Adds samples in [−1, 1]. A remainder shorter than a step is ignored.
    mutating func add(_ samples: Span<Float>) {
        var begin = 0
        while begin + Self.stepSamples <= samples.count {
            // Every fourth sample is enough for a level, and four sums do not wait for each other.
            var sums = SIMD4<Float>.zero
            for index in stride(from: begin, to: begin + Self.stepSamples, by: 16) {
                let part = SIMD4(samples[index], samples[index + 4], samples[index + 8], samples[index + 12])
                sums += part * part
            }
            let energy = sums.sum() / Float(Self.stepSamples / 4)
            levels[seen % Self.steps] = decibels((energy + energies.0 + energies.1) / 3)
            energies = (energies.1, energy)
            seen += 1
            begin += Self.stepSamples
        }
    }

    /// What stands out now; nothing before 2.4 s.
    func contrast(_ rule: LevelContrast.Rule) -> LevelContrast {
        guard seen >= Self.steps else { return LevelContrast() }
        var (loudest, quietest) = (-Float.infinity, Float.infinity)
        for age in 0..<Self.peakSteps { loudest = max(loudest, level(age)) }
        for index in levels.indices { quietest = min(quietest, levels[index]) }
        // Not for NaN either.
        guard loudest - quietest < rule.range else { return LevelContrast() }
        let least = loudest - rule.drop
        var newest = 0
        while newest < Self.steps, level(newest) < least { newest += 1 }
        var oldest = newest
        var age = newest
        while age < Self.steps, age - oldest <= Self.longestPause {
            if level(age) >= least { oldest = age }
            age += 1
        }
        var quiet = oldest + 1
        while quiet < Self.steps, level(quiet) < least { quiet += 1 }
        return LevelContrast(after: UInt8(newest), length: UInt8(oldest + 1), before: UInt8(quiet - oldest - 1))
    }

    /// The level so many steps before the newest one.
    private func level(_ age: Int) -> Float {
        let row = (seen - 1) % Self.steps
        return levels[age <= row ? row - age : row - age + Self.steps]
    }

    /// Resets to the initial state, for example after a gap in the audio. Allocates nothing.
    mutating func flush() {
        for index in levels.indices { levels[index] = -.infinity }
        energies = (0, 0)
        seen = 0
    }
}
