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
    /// Reads samples whose layout leaves something to tell; nil where it does not, or they are read as they are declared.
    private var reader: SampleReader?
    /// Whether a sample that is not usable comes after what is kept back.
    private var isSpoilt = false

    private var mixer: ChannelMixer
    private var partial: [UInt8]
    private var partialCount = 0
    private var interleaved: [Float]

    private static let framesAtOnce = 256

    /// - Parameters:
    ///   - channels: 1 or more.
    ///   - mix: as of ``ChannelMixer``.
    ///   - rate: frames a second, for audio that ``ReadingRule`` tells how to read, and of which up to a second is kept back until it does;
    ///     nil reads it as it is declared.
    public init(_ layout: SampleLayout, channels: Int, mix: ChannelMix, rate: Int? = nil) {
        self.layout = layout
        self.channels = max(1, channels)
        mixer = ChannelMixer(mix, channels: self.channels)
        if let rate, let declared = SampleReading.Declared(layout) {
            reader = SampleReader(declared, rate: rate, channels: self.channels)
        }
        partial = [UInt8](repeating: 0, count: layout.bytes * max(1, channels))
        interleaved = [Float](repeating: 0, count: Self.framesAtOnce * max(1, channels))
    }

    /// What is corrected in the mix now.
    public var faults: ChannelFaults { mixer.faults }

    /// Bytes of an incomplete frame that are kept.
    public var waiting: Int { partialCount }

    /// Frames that are kept back, until it is told how they are to be read.
    public var keptBack: Int { (reader?.waiting ?? 0) / channels }

    /// Ends the audio: what is kept back comes out of the next calls of ``decode(_:into:)``.
    public mutating func finish() { reader?.finish() }

    /// A line that is due on how samples are read; each once.
    public mutating func warning(_ source: String, isEnd: Bool = false) -> String? {
        reader?.warning(source, isEnd: isEnd)
    }

    /// Forgets an incomplete frame, where the same audio goes on behind a header.
    mutating func dropPartial() { partialCount = 0 }

    /// Forgets an incomplete frame, and what is kept back, where other audio begins. It is read as the audio before was.
    public mutating func reset() {
        (partialCount, isSpoilt) = (0, false)
        reader?.reset()
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
        while progress.frames < mono.count {
            let room = UnsafeMutableBufferPointer(rebasing: mono[progress.frames...])
            let given = giveBack(into: room)
            progress.frames += given
            if given > 0 { continue }
            if isSpoilt {
                progress.isUnusable = true
                break
            }
            let most = min(
                room.count,
                Self.framesAtOnce,
                reader.map { $0.isPassing ? .max : $0.room / channels } ?? .max
            )
            let rest = UnsafeRawBufferPointer(rebasing: bytes[progress.bytes...])
            let whole = min(rest.count / frameBytes, most)
            if partialCount > 0 || whole == 0 {
                // A frame that is complete waits where the one before it was not usable.
                progress.bytes += keep(rest)
                guard partialCount == frameBytes else { break }
                var frame: [UInt8] = []
                swap(&frame, &partial)
                let (taken, frames) = frame.withUnsafeBytes { convert($0, 1, into: room) }
                swap(&frame, &partial)
                progress.frames += frames
                if taken == 1 { partialCount = 0 } else { spoil() }
            } else {
                let (taken, frames) = convert(
                    UnsafeRawBufferPointer(rebasing: rest.prefix(whole * frameBytes)),
                    whole,
                    into: room
                )
                progress.bytes += taken * frameBytes
                progress.frames += frames
                if taken < whole { spoil() }
            }
        }
        return progress
    }

    /// What is before a sample that is not usable is audio.
    private mutating func spoil() {
        isSpoilt = true
        reader?.finish()
    }

    /// Mixes frames that were kept back and may go; returns their number.
    private mutating func giveBack(into mono: UnsafeMutableBufferPointer<Float>) -> Int {
        guard reader?.isPassing == false else { return 0 }
        var scratch: [Float] = []
        swap(&scratch, &interleaved)
        defer { swap(&scratch, &interleaved) }
        let most = min(mono.count, Self.framesAtOnce) * channels
        return scratch.withUnsafeMutableBufferPointer { scratch in
            let count = reader?.pull(into: UnsafeMutableBufferPointer(rebasing: scratch.prefix(most))) ?? 0
            return mixer.mix(UnsafeBufferPointer(rebasing: scratch.prefix(count)), into: mono)
        }
    }

    /// Keeps the beginning of a frame; returns how many bytes were used.
    private mutating func keep(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = min(bytes.count, frameBytes - partialCount)
        for index in 0..<count { partial[partialCount + index] = bytes[index] }
        partialCount += count
        return count
    }

    /// Decodes whole frames; mixes them, or keeps them back. Returns how many there are before one that is not usable, and how many were mixed.
    private mutating func convert(
        _ bytes: UnsafeRawBufferPointer,
        _ frames: Int,
        into mono: UnsafeMutableBufferPointer<Float>
    ) -> (taken: Int, mixed: Int) {
        if channels == 1, !layout.isFloat, reader == nil, mixer.mix == .mix || mixer.mix == .channel(0) {
            let count = layout.decode(bytes, into: UnsafeMutableBufferPointer(rebasing: mono.prefix(frames)))
            return (count, count)
        }
        var scratch: [Float] = []
        swap(&scratch, &interleaved)
        defer { swap(&scratch, &interleaved) }
        return scratch.withUnsafeMutableBufferPointer { scratch in
            let samples = UnsafeMutableBufferPointer(rebasing: scratch.prefix(frames * channels))
            _ = layout.decode(bytes, into: samples)
            let usable = layout.isFloat ? SampleCheck.firstUnusable(samples) ?? samples.count : samples.count
            let whole = usable / channels
            let sound = UnsafeMutableBufferPointer(rebasing: samples[..<(whole * channels)])
            if reader?.isPassing == false {
                reader?.push(UnsafeBufferPointer(sound))
                return (whole, 0)
            }
            reader?.pass(sound)
            return (whole, mixer.mix(UnsafeBufferPointer(sound), into: mono))
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
}
