import KernelInterface
import Kernels

/// The front end of Google's speech embedding: 32 mel bands each 10 ms, in chunks of 80 ms.
///
/// Windows of 25 ms, their power spectrum in bands from 60 to 3800 Hz, in decibels. What lies more than 80 dB below the highest value of a
/// chunk is raised to that. A feature is 2 and a tenth of the decibels. Before the first sample there is digital silence. After `init`,
/// nothing allocates.
///
/// Source: the melspectrogram model of openWakeWord.
struct MelFrontEnd: ~Copyable {
    /// Numbers per frame.
    static let bands = 32
    /// Frames per chunk.
    static let frames = 8
    /// Samples at 16 kHz from one chunk to the next.
    static let chunkSamples = 1280
    /// The feature of digital silence in all bands.
    static let silence: Float = -8

    /// Silence around a window of 400 samples in the original's windows of 512.
    private static let margin = 56
    private static let windowSamples = 400
    private static let hopSamples = 160
    /// Samples that a chunk needs, from its start.
    private static let neededSamples = margin + (frames - 1) * hopSamples + windowSamples
    /// How far below the highest value of a chunk a feature may lie: 80 dB.
    private static let range: Float = 8

    /// Features of the newest chunk, `[frames × bands]`.
    let features = Memory<Float>(frames * bands)

    private let kernels: KernelSet
    private let tables = LogMelTables(shape: shape)
    private let samples = Memory<Float>(neededSamples)
    private let scratch = Memory<Float>(shape.scratchCount)
    /// Samples that are there; the next one is added after them.
    private var filled = chunkSamples

    private static let shape = LogMelShape(
        sampleRate: 16000,
        frameSamples: windowSamples,
        hopSamples: hopSamples,
        fftSize: 512,
        bands: bands,
        lowHertz: 60,
        highHertz: 3800,
        scale: .slaney,
        floor: .leastNormalMagnitude,
        mean: -2 * naturalOf10,
        deviation: naturalOf10
    )
    private static let naturalOf10: Float = 2.302_585_1

    init(_ kernels: KernelSet) { self.kernels = kernels }

    /// Returns to the state before the first sample.
    mutating func reset() {
        samples.clear()
        filled = Self.chunkSamples
    }

    /// Adds a sample at 16 kHz.
    ///
    /// - Returns: whether `features` are new, as after each 1280 samples. The first chunk needs 296.
    mutating func add(_ sample: Int16) -> Bool {
        samples.base[filled] = Float(sample)
        filled += 1
        guard filled == Self.neededSamples else { return false }
        kernels.logMel(samples.base + Self.margin, features.base, Self.frames, tables, scratch.base)
        limitRange()
        filled -= Self.chunkSamples
        samples.base.update(from: samples.base + Self.chunkSamples, count: filled)
        return true
    }

    private func limitRange() {
        var highest = Self.silence
        for index in 0..<features.count { highest = max(highest, features.base[index]) }
        let lowest = max(highest - Self.range, Self.silence)
        for index in 0..<features.count { features.base[index] = max(features.base[index], lowest) }
    }
}
