public import Audio
private import Core

/// All measurements of a recording's signal; ``Finding/all(in:)`` derives the findings from them.
public struct SignalReport: Sendable, Equatable {
    /// Sample rate of the recording, in Hz.
    public let sampleRate: Int
    public let seconds: Double
    /// Peak in dBFS.
    public let peak: Double
    /// Fraction of clipped samples, 0…1.
    public let clippedShare: Double
    /// Start of each run of clipped samples, in seconds.
    public let clippedTimes: [Double]
    /// DC offset: mean of the samples, full scale at 1.
    public let offset: Double
    /// Fraction of digital silence, 0…1.
    public let silentShare: Double
    public let levels: Levels
    /// What is corrected in the mix of the channels.
    public let faults: ChannelFaults
    public let hum: Hum?
    /// Highest frequency with sound in the model's input, in Hz; nil where there is no sound.
    public let highestHertz: Double?
    /// Highest frequency that can reach the model, in Hz.
    public let reachHertz: Double

    /// - Parameters:
    ///   - channels: statistics of each channel used, as recorded; the worst of them counts.
    ///   - faults: what is corrected in their mix.
    ///   - samples: the model's input, one channel.
    ///   - listeningRate: sample rate of `samples`, in Hz.
    public init(
        channels: [SampleStatistics],
        faults: ChannelFaults = ChannelFaults(),
        samples: [Float],
        listeningRate: Int
    ) {
        self.faults = faults
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
        // A DC offset would be the strongest spectral line of a quiet recording.
        let mean = samples.isEmpty ? 0 : samples.reduce(0, +) / Float(samples.count)
        highestHertz = Bandwidth.highest(of: samples.map { $0 - mean }, sampleRate: listeningRate)
        reachHertz = Double(min(sampleRate, listeningRate)) / 2
    }
}
