/// Everything measured about a recording's signal; the findings follow from it.
public struct SignalReport: Sendable, Equatable {
    /// Of the recording as it was made.
    public let sampleRate: Int
    public let seconds: Double
    /// Peak in dB relative to full scale.
    public let peak: Double
    public let clippedShare: Double
    /// When clipped stretches began, in seconds.
    public let clippedTimes: [Double]
    /// Mean of the samples.
    public let offset: Double
    /// Share of digital silence.
    public let silentShare: Double
    public let levels: Levels
    public let hum: Hum?
    /// Highest frequency with sound in Hz, as far as the listener's rate reaches; nil where there is no sound.
    public let highestHertz: Double?
    /// Highest frequency that a listener at its rate can hear, in Hz.
    public let reachHertz: Double

    /// - Parameters:
    ///   - channels: of each channel listened to, as recorded; the worst of them counts.
    ///   - samples: what the listener gets, one channel.
    ///   - listeningRate: samples a second of `samples`.
    public init(channels: [SampleStatistics], samples: [Float], listeningRate: Int) {
        sampleRate = channels.first?.sampleRate ?? listeningRate
        seconds = Double(channels.first?.count ?? 0) / Double(max(1, sampleRate))
        let largest = Double(channels.map(\.peak).max() ?? 0)
        peak = decibels(largest * largest)
        let worst = channels.max { $0.clippedShare < $1.clippedShare }
        clippedShare = worst?.clippedShare ?? 0
        clippedTimes = worst?.clippedTimes ?? []
        offset = channels.map(\.mean).max { abs($0) < abs($1) } ?? 0
        silentShare = channels.map(\.silentShare).min() ?? 0
        levels = Levels(samples, sampleRate: listeningRate)
        hum = Hum.find(in: samples, sampleRate: listeningRate)
        // An offset would be the strongest line of a quiet recording.
        let mean = samples.isEmpty ? 0 : samples.reduce(0, +) / Float(samples.count)
        highestHertz = Bandwidth.highest(of: samples.map { $0 - mean }, sampleRate: listeningRate)
        reachHertz = Double(min(sampleRate, listeningRate)) / 2
    }
}
