/// The newest seconds of a stream, for the confirming networks: 16-bit samples with a scale for each hop.
///
/// `init` allocates all memory. One thread at a time uses it.
final class RecentAudio {
    /// The least number of seconds that are kept, and the seconds from a word's middle to its decision.
    private static let (least, decision) = (2.0, 1.25)

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
    ///   - reach: samples that a look reads before a word's middle.
    ///   - count: hops of the stream until now.
    init(hopSamples: Int, sampleRate: Int, reach: Int = 0, after count: Int = 0) {
        self.count = count
        self.hopSamples = hopSamples
        let seconds = max(Self.least, Double(reach) / Double(sampleRate) + Self.decision)
        hops = Int((seconds * Double(sampleRate) / Double(hopSamples)).rounded(.up))
        samples = .allocate(capacity: hops * hopSamples)
        samples.initialize(repeating: 0)
        scales = .allocate(capacity: hops)
        scales.initialize(repeating: 0)
    }

    deinit {
        samples.deallocate()
        scales.deallocate()
    }

    /// Adds the hops before the newest one, from a window that ends with it: for audio that is kept from within a stream on.
    func fill(before window: Span<Float>) {
        let earlier = min(count, window.count / hopSamples - 1)
        guard earlier > 0 else { return }
        count -= earlier
        for index in stride(from: earlier, to: 0, by: -1) {
            let end = window.count - index * hopSamples
            add(hop: window.extracting(end - hopSamples..<end))
        }
    }

    /// Adds a hop; samples that are not finite make all of it silence.
    func add(hop: Span<Float>) {
        precondition(hop.count == hopSamples, "a hop has \(hopSamples) samples")
        let place = count % hops
        hop.withUnsafeBufferPointer { hop in
            let peak = highest(hop)
            scales[place] = peak > 0 && peak.isFinite ? peak / Self.full : 0
            let factor = scales[place] > 0 ? 1 / scales[place] : 0
            let target = UnsafeMutableBufferPointer(rebasing: samples[place * hopSamples..<(place + 1) * hopSamples])
            guard factor > 0, factor.isFinite else {
                scales[place] = 0
                return
            }
            // Added to this, a number below 2²² is rounded, and its integer is in the low bits.
            let bias = SIMD16<Float>(repeating: 0x1.8p23)
            let whole = hop.count / 16 * 16
            if let source = UnsafeRawPointer(hop.baseAddress), let base = UnsafeMutableRawPointer(target.baseAddress) {
                for index in stride(from: 0, to: whole, by: 16) {
                    let next = source.loadUnaligned(fromByteOffset: 4 * index, as: SIMD16<Float>.self)
                    let rounded = unsafeBitCast(next * factor + bias, to: SIMD16<Int32>.self)
                    base.storeBytes(
                        of: SIMD16<Int16>(truncatingIfNeeded: rounded),
                        toByteOffset: 2 * index,
                        as: SIMD16<Int16>.self
                    )
                }
            }
            for index in whole..<hop.count { target[index] = Int16((hop[index] * factor).rounded()) }
        }
        count += 1
        filled = min(filled + 1, hops)
    }

    private static let full: Float = 32_767

    /// The largest magnitude; not finite if a sample is not.
    private func highest(_ hop: UnsafeBufferPointer<Float>) -> Float {
        var lanes = SIMD16<Float>.zero
        var sum = SIMD16<Float>.zero
        let whole = hop.count / 16 * 16
        if let base = UnsafeRawPointer(hop.baseAddress) {
            for index in stride(from: 0, to: whole, by: 16) {
                let next = base.loadUnaligned(fromByteOffset: 4 * index, as: SIMD16<Float>.self)
                let magnitude = next.replacing(with: 0 - next, where: next .< 0)
                lanes = lanes.replacing(with: magnitude, where: magnitude .> lanes)
                // Not finite, if one of the samples is not; infinity minus itself is NaN.
                sum += next - next
            }
        }
        var highest: Float = 0
        for lane in 0..<16 { highest = max(highest, lanes[lane]) }
        for index in whole..<hop.count {
            highest = max(highest, abs(hop[index]))
            sum[0] += hop[index] - hop[index]
        }
        return sum.sum() == 0 ? highest : .nan
    }

    /// Forgets the audio; the time goes on.
    func flush() { filled = 0 }

    /// Writes samples from `first` on, counted from the stream's beginning; those that are not kept, or not there yet, are 0.
    func read(from first: Int, into target: UnsafeMutableBufferPointer<Float>) {
        let oldest = (count - filled) * hopSamples
        let end = count * hopSamples
        var index = 0
        while index < target.count {
            let place = first + index
            guard place >= oldest, place < end else {
                target[index] = 0
                index += 1
                continue
            }
            let slot = place / hopSamples % hops
            let offset = place % hopSamples
            let scale = scales[slot]
            for step in 0..<min(hopSamples - offset, target.count - index) {
                target[index + step] = Float(samples[slot * hopSamples + offset + step]) * scale
            }
            index += min(hopSamples - offset, target.count - index)
        }
    }
}
