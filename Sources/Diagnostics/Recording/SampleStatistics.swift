/// What can be seen in the samples themselves, before they are mixed or resampled: peak, mean, clipping, dead silence.
///
/// One channel, piece by piece; how it is cut into pieces changes nothing.
public struct SampleStatistics: Sendable, Equatable {
    /// From here on a sample is at the end of what its format can hold (16-bit samples end at 0.99997).
    static let fullScale: Float = 0.9998
    /// Full samples in a row that count as clipped: one alone may just be the peak.
    static let clippedRun = 2
    /// Times of clipped stretches that are kept.
    static let keptTimes = 10_000

    public let sampleRate: Int
    public private(set) var count = 0
    /// The largest magnitude.
    public private(set) var peak: Float = 0
    public private(set) var clippedCount = 0
    /// When each stretch of clipped samples began, in seconds; only the first 10 000 of them.
    public private(set) var clippedTimes: [Double] = []
    private var sum = 0.0
    private var fullRun = 0
    private var zeroRun = 0
    private var silentCount = 0

    public init(sampleRate: Int) { self.sampleRate = max(1, sampleRate) }

    /// The mean of all samples: what the signal is off its centre (DC offset).
    public var mean: Double { count > 0 ? sum / Double(count) : 0 }

    /// Share of samples that are clipped, 0…1.
    public var clippedShare: Double { count > 0 ? Double(clippedCount) / Double(count) : 0 }

    /// Share of samples in stretches of nothing but zeros over 100 ms long, 0…1.
    public var silentShare: Double {
        count > 0 ? Double(silentCount + (isLong(zeroRun) ? zeroRun : 0)) / Double(count) : 0
    }

    public mutating func add(_ samples: Span<Float>) {
        for index in samples.indices {
            let sample = samples[index]
            let magnitude = abs(sample)
            peak = max(peak, magnitude)
            sum += Double(sample)
            count += 1
            if magnitude >= SampleStatistics.fullScale {
                addFull()
            } else {
                fullRun = 0
            }
            if sample == 0 {
                zeroRun += 1
            } else {
                if isLong(zeroRun) { silentCount += zeroRun }
                zeroRun = 0
            }
        }
    }

    private mutating func addFull() {
        fullRun += 1
        guard fullRun >= SampleStatistics.clippedRun else { return }
        let first = fullRun == SampleStatistics.clippedRun
        clippedCount += first ? fullRun : 1
        if first, clippedTimes.count < SampleStatistics.keptTimes {
            clippedTimes.append(Double(count - fullRun) / Double(sampleRate))
        }
    }

    private func isLong(_ run: Int) -> Bool { run * 10 > sampleRate }
}
