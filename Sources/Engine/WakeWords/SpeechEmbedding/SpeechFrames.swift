private import Kernels

/// The speech embedding of a piece of audio, frame by frame: 96 numbers each 80 ms. After `init`, nothing allocates.
///
/// The audio's level does not matter: its peak is scaled to one that the embedding knows.
public final class SpeechFrames {
    /// Frames of a window that is shorter than what an embedding says something about, 775 ms: they are left out.
    private static let incomplete = 9
    /// Samples of the first frame, of which the front end needs less than of the others.
    private static let firstSamples = 296
    /// The value, in 16 bits, to which the peak is scaled, and the least peak that is.
    private static let (peakLevel, leastPeak): (Float, Float) = (9830, 1e-6)

    /// Number of frames.
    public let count: Int
    /// `[count × SpeechEmbedding.count]`, the last one at the end of the audio.
    public var frames: UnsafeBufferPointer<Float> { UnsafeBufferPointer(start: values.base, count: values.count) }

    private let stream: EmbeddingStream
    private let values: Memory<Float>

    /// Samples at 16 kHz that so many frames need.
    public static func samples(frames count: Int) -> Int {
        firstSamples + (incomplete + count - 1) * SpeechEmbedding.hopSamples
    }

    public init(_ embedding: SpeechEmbedding, count: Int) {
        self.count = count
        stream = EmbeddingStream(embedding)
        values = Memory<Float>(count * SpeechEmbedding.count)
    }

    /// Computes `frames`.
    ///
    /// - Parameter samples: `samples(frames: count)` of them, [−1, 1]; others leave the frames as they are. Those that are not finite are
    ///   silence.
    public func compute(_ samples: UnsafeBufferPointer<Float>) {
        guard samples.count == Self.samples(frames: count) else { return }
        stream.reset()
        let scale = Self.scale(samples)
        var frame = -Self.incomplete
        for sample in samples {
            guard stream.add(Self.scaled(sample, scale)) else { continue }
            if frame >= 0 {
                (values.base + frame * SpeechEmbedding.count).update(from: stream.newest, count: SpeechEmbedding.count)
            }
            frame += 1
        }
    }

    /// Samples at the level at which frames are computed.
    public static func scaled(_ samples: [Float]) -> [Int16] {
        let scale = samples.withUnsafeBufferPointer(scale)
        return samples.map { scaled($0, scale) }
    }

    private static func scale(_ samples: UnsafeBufferPointer<Float>) -> Float {
        var peak: Float = 0
        for sample in samples where sample.isFinite { peak = max(peak, abs(sample)) }
        return peak > leastPeak ? peakLevel / peak : 0
    }

    private static func scaled(_ sample: Float, _ scale: Float) -> Int16 {
        sample.isFinite ? Int16((sample * scale).rounded()) : 0
    }
}
