/// Decodes PCM audio that comes as bytes, in parts of any size, to mono samples.
///
/// A part may end within a sample or a frame: the rest is kept for the next part. Nothing allocates after `init`.
public struct PCMDecoder: Sendable {
    /// The result of one call.
    public struct Progress: Equatable, Sendable {
        /// Bytes used; pass the others again.
        public var bytes = 0
        /// Mono samples written, one a frame.
        public var frames = 0
        /// Whether the next frame holds a sample that is NaN, infinite or beyond ``AudioFile/largestSample``. Decoding ends there.
        public var isUnusable = false
    }

    public let layout: SampleLayout
    public let channels: Int
    /// Bytes of one sample of each channel.
    public var frameBytes: Int { layout.bytes * channels }
    /// The largest magnitude of all samples so far, of all channels; for ``SampleLayout/isFloat`` only.
    public private(set) var peak: Float = 0
    /// What samples are multiplied with after they are decoded.
    public var scale: Float = 1

    private var mixer: ChannelMixer
    private var partial: [UInt8]
    private var partialCount = 0
    private var interleaved: [Float]

    private static let framesAtOnce = 256

    /// - Parameters:
    ///   - channels: 1 or more.
    ///   - mix: as of ``ChannelMixer``.
    public init(_ layout: SampleLayout, channels: Int, mix: ChannelMix) {
        self.layout = layout
        self.channels = max(1, channels)
        mixer = ChannelMixer(mix, channels: self.channels)
        partial = [UInt8](repeating: 0, count: layout.bytes * max(1, channels))
        interleaved = [Float](repeating: 0, count: Self.framesAtOnce * max(1, channels))
    }

    /// What is corrected in the mix now.
    public var faults: ChannelFaults { mixer.faults }

    /// Bytes of an incomplete frame that are kept.
    public var waiting: Int { partialCount }

    /// Forgets an incomplete frame, where other audio begins.
    public mutating func reset() {
        partialCount = 0
        peak = 0
    }

    /// Takes the incomplete frame of a decoder with frames of the same size, and what it knows of the channels.
    mutating func takePartial(of other: PCMDecoder) {
        guard other.frameBytes == frameBytes else { return }
        (partial, partialCount) = (other.partial, other.partialCount)
        mixer = other.mixer
    }

    /// Decodes until the bytes are used up or the room is full.
    ///
    /// - Parameters:
    ///   - bytes: the next part of the audio.
    ///   - mono: gets one sample a frame.
    @_lifetime(mono: copy mono)
    public mutating func decode(_ bytes: Span<UInt8>, into mono: inout MutableSpan<Float>) -> Progress {
        bytes.withUnsafeBytes { bytes in
            mono.withUnsafeMutableBufferPointer { mono in decode(bytes, into: mono) }
        }
    }

    private mutating func decode(
        _ bytes: UnsafeRawBufferPointer,
        into mono: UnsafeMutableBufferPointer<Float>
    ) -> Progress {
        var progress = Progress()
        guard !mono.isEmpty else { return progress }
        if partialCount > 0 {
            progress.bytes = keep(bytes)
            guard partialCount == frameBytes else { return progress }
            var frame: [UInt8] = []
            swap(&frame, &partial)
            let isUsable = frame.withUnsafeBytes {
                convert($0, 1, into: UnsafeMutableBufferPointer(rebasing: mono[..<1])) == 1
            }
            swap(&frame, &partial)
            guard isUsable else {
                progress.isUnusable = true
                return progress
            }
            partialCount = 0
            progress.frames = 1
        }
        while progress.frames < mono.count {
            let whole = min(
                (bytes.count - progress.bytes) / frameBytes,
                mono.count - progress.frames,
                Self.framesAtOnce
            )
            guard whole > 0 else {
                progress.bytes += keep(UnsafeRawBufferPointer(rebasing: bytes[progress.bytes...]))
                break
            }
            let part = UnsafeRawBufferPointer(rebasing: bytes[progress.bytes..<progress.bytes + whole * frameBytes])
            let made = convert(part, whole, into: UnsafeMutableBufferPointer(rebasing: mono[progress.frames...]))
            progress.bytes += made * frameBytes
            progress.frames += made
            guard made == whole else {
                progress.isUnusable = true
                break
            }
        }
        return progress
    }

    /// Keeps the beginning of a frame; returns how many bytes were used.
    private mutating func keep(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = min(bytes.count, frameBytes - partialCount)
        for index in 0..<count { partial[partialCount + index] = bytes[index] }
        partialCount += count
        return count
    }

    /// Decodes and mixes whole frames; returns how many there are before one that is not usable.
    private mutating func convert(
        _ bytes: UnsafeRawBufferPointer,
        _ frames: Int,
        into mono: UnsafeMutableBufferPointer<Float>
    ) -> Int {
        let isDirect = channels == 1 && !layout.isFloat && (mixer.mix == .mix || mixer.mix == .channel(0))
        if isDirect, scale == 1 {
            return layout.decode(bytes, into: UnsafeMutableBufferPointer(rebasing: mono.prefix(frames)))
        }
        var scratch: [Float] = []
        swap(&scratch, &interleaved)
        defer { swap(&scratch, &interleaved) }
        return scratch.withUnsafeMutableBufferPointer { scratch in
            let samples = UnsafeMutableBufferPointer(rebasing: scratch.prefix(frames * channels))
            _ = layout.decode(bytes, into: samples)
            var usable = samples.count
            if layout.isFloat {
                usable = SampleCheck.firstUnusable(samples) ?? samples.count
                peak = max(peak, SampleCheck.peak(samples[..<usable]))
            }
            let whole = usable / channels
            if scale != 1 { for index in 0..<whole * channels { samples[index] *= scale } }
            let sound = UnsafeBufferPointer(rebasing: samples[..<(whole * channels)])
            return mixer.mix(sound, into: mono)
        }
    }
}

/// What is asked of every floating-point sample from outside.
enum SampleCheck {
    /// The index of the first sample that is NaN, infinite or beyond ``AudioFile/largestSample``; nil if there is none.
    static func firstUnusable(_ samples: some RandomAccessCollection<Float>) -> Int? {
        var count = 0
        for sample in samples {
            guard sample.magnitude <= AudioFile.largestSample else { return count }
            count += 1
        }
        return nil
    }

    /// The largest magnitude.
    static func peak(_ samples: some RandomAccessCollection<Float>) -> Float {
        var peak: Float = 0
        for sample in samples { peak = max(peak, sample.magnitude) }
        return peak
    }
}
