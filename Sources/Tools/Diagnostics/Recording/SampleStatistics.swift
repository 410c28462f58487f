/// Statistics of one channel before mixing and resampling: peak, mean, clipping, digital silence.
///
/// Samples are added in chunks of any size.
public struct SampleStatistics: Sendable, Equatable {
    /// Magnitude from which a sample is at full scale (16-bit samples end at 0.99997).
    static let fullScale: Float = 0.9998
    /// Consecutive samples at full scale that count as clipped: a single one may be the peak.
    static let clippedRun = 2
    /// Largest number of times of clipped runs that are kept.
    static let keptTimes = 10_000

    public let sampleRate: Int
    public private(set) var count = 0
    /// The largest magnitude.
    public private(set) var peak: Float = 0
    public private(set) var clippedCount = 0
    /// Start of each run of clipped samples, in seconds; the first 10 000 of them.
    public private(set) var clippedTimes: [Double] = []
    private var sum = 0.0
    private var fullRun = 0
    private var zeroRun = 0
    private var silentCount = 0

    public init(sampleRate: Int) { self.sampleRate = max(1, sampleRate) }

    /// Mean of all samples: the DC offset.
    public var mean: Double { count > 0 ? sum / Double(count) : 0 }

    /// Fraction of clipped samples, 0…1.
    public var clippedShare: Double { count > 0 ? Double(clippedCount) / Double(count) : 0 }

    /// Fraction of samples in runs of zeros longer than 100 ms, 0…1.
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
