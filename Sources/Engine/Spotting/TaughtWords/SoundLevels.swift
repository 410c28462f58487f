/// The level of a piece of audio in windows of 30 ms, one every 10 ms: where there is sound. After `init`, nothing allocates.
struct SoundLevels {
    private static let (window, step) = (480, 160)
    /// Sound is at most so much weaker than the loudest window, and so much stronger than the weakest, as ratios of power: 25 dB and 6 dB. From
    /// 22 to 28 dB, and from 4 to 8 dB in noise of 6 dB and more, parts of phrases are told from phrases alike.
    private static let (belowLoudest, aboveWeakest): (Float, Float) = (0.003_162, 3.981)

    private var powers: [Float]

    /// - Parameter samples: at 16 kHz, as many as are measured at a time.
    init(samples: Int) {
        powers = [Float](repeating: 0, count: max(0, samples - Self.window) / Self.step + 1)
    }

    mutating func measure(_ samples: UnsafeBufferPointer<Float>) {
        for index in powers.indices {
            let start = index * Self.step
            var sum: Float = 0
            for sample in samples[min(start, samples.count)..<min(start + Self.window, samples.count)] {
                sum += sample * sample
            }
            powers[index] = sum.isFinite ? sum : 0
        }
    }

    /// Whether a window that begins in this range of samples is sound.
    ///
    /// - Parameter recent: the samples, up to the last, among which the loudest window is sought.
    func isSound(_ range: Range<Int>, recent: Int) -> Bool {
        let (first, last) = (max(0, range.lowerBound / Self.step), min(powers.count, range.upperBound / Self.step))
        guard first < last else { return false }
        var (loudest, weakest, found): (Float, Float, Float) = (0, .infinity, 0)
        for (index, power) in powers.enumerated() {
            weakest = min(weakest, power)
            if index >= powers.count - recent / Self.step { loudest = max(loudest, power) }
            if (first..<last).contains(index) { found = max(found, power) }
        }
        return found > 0 && found >= loudest * Self.belowLoudest && found >= weakest * Self.aboveWeakest
    }
}
