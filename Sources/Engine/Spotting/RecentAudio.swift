private import Kernels

/// The newest seconds of a stream, for second looks: 16-bit samples with a scale for each hop.
///
/// `init` allocates all memory. One thread at a time uses it.
final class RecentAudio {
    /// The seconds from a word's middle to its decision.
    private static let decision = 1.25

    private let hopSamples: Int
    private let hops: Int
    private let samples: UnsafeMutableBufferPointer<Int16>
    /// Of each hop the value of the number 1.
    private let scales: UnsafeMutableBufferPointer<Float>
    /// Hops since the stream began.
    private var count = 0
    /// Hops since the last flush, as far as they are kept.
    private var filled = 0

    /// - Parameters:
    ///   - reach: samples that the confirming networks read before a word's middle.
    ///   - seconds: those that other looks read.
    ///   - count: hops of the stream until now.
    init(hopSamples: Int, sampleRate: Int, reach: Int = 0, seconds: Double, after count: Int = 0) {
        self.count = count
        self.hopSamples = hopSamples
        let seconds = max(seconds, Double(reach) / Double(sampleRate) + Self.decision)
        hops = Int((seconds * Double(sampleRate) / Double(hopSamples)).rounded(.up))
        samples = .allocate(capacity: hops * hopSamples)
        samples.initialize(repeating: 0)
        scales = .allocate(capacity: hops)
        scales.initialize(repeating: 0)
    }

    /// Goes on from another one with hops of the same length, if that keeps less.
    func goOn(from former: RecentAudio) {
        (count, filled) = (former.count, min(hops, former.filled))
        for hop in count - filled..<count {
            let (place, old) = (hop % hops, hop % former.hops)
            scales[place] = former.scales[old]
            for index in 0..<hopSamples {
                samples[place * hopSamples + index] = former.samples[old * hopSamples + index]
            }
        }
    }

    /// Whether it keeps as much as another one.
    func keepsAsMuch(as other: RecentAudio) -> Bool { hops >= other.hops }

    deinit {
        samples.deallocate()
        scales.deallocate()
    }

    /// Adds a hop; samples that are not finite make all of it silence.
    func add(hop: Span<Float>) {
        precondition(hop.count == hopSamples, "a hop has \(hopSamples) samples")
        let place = count % hops
        hop.withUnsafeBufferPointer { hop in
            guard let hop = hop.baseAddress, let samples = samples.baseAddress else { return }
            let peak = peak(hop, count: hopSamples)
            let factor = 1 / (peak / Self.full)
            guard factor > 0, factor.isFinite else {
                scales[place] = 0
                return
            }
            scales[place] = peak / Self.full
            narrowToShorts(hop, by: factor, to: samples + place * hopSamples, count: hopSamples)
        }
        count += 1
        filled = min(filled + 1, hops)
    }

    private static let full: Float = 32_767

    /// Forgets the audio; the time goes on.
    func flush() { filled = 0 }

    /// Writes samples from `first` on, counted from the stream's beginning; those that are not kept, or not there yet, are 0.
    func read(from first: Int, into target: UnsafeMutableBufferPointer<Float>) {
        let oldest = (count - filled) * hopSamples
        let end = count * hopSamples
        var index = 0
        guard let base = target.baseAddress, let samples = samples.baseAddress else { return }
        while index < target.count {
            let place = first + index
            guard place >= oldest, place < end else {
                target[index] = 0
                index += 1
                continue
            }
            let slot = place / hopSamples % hops
            let offset = place % hopSamples
            let length = min(hopSamples - offset, target.count - index)
            widenShorts(samples + slot * hopSamples + offset, to: base + index, count: length)
            scale(base + index, by: scales[slot], to: base + index, count: length)
            index += length
        }
    }
}
