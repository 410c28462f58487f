import Audio
import Core
import Echo
import Glibc

/// Turns a device's frames into blocks at 16 kHz: converts the samples, mixes them to one channel, resamples and removes an echo.
///
/// Nothing allocates after `init`.
struct BlockCutter: ~Copyable {
    let format: StreamFormat
    /// The buffer for frames read from the device; it holds ``capacity`` of them.
    let frames: UnsafeMutableRawBufferPointer
    /// Most frames that ``take(_:time:into:)`` accepts at once.
    let capacity: Int
    var isLocked: Bool { memory.isLocked }

    /// Reads samples whose format leaves something to tell; nil for others.
    private var reader: SampleReader?
    private var mixer: ChannelMixer
    private var mix: ChannelMix { mixer.mix }
    private let memory: PinnedMemory
    private let interleaved: UnsafeMutableBufferPointer<Float>
    private let mono: UnsafeMutableBufferPointer<Float>
    /// What is played, where its echo is removed.
    private let reference: UnsafeMutableBufferPointer<Float>
    /// Samples of a block at 16 kHz.
    private let length: Int
    private var blocks: BlockMaker
    /// Input frames since the last ``reset()``.
    private var framesTaken = 0
    /// When the newest sample of a device's reference was captured.
    private var referenceTime = Instant(nanoseconds: 0)

    init(
        format: StreamFormat,
        mix: ChannelMix,
        quality: Resampler.Quality,
        length: Int = AudioFormat.hopSamples
    ) throws(CaptureError) {
        // At least one period and one block (100 ms).
        let capacity = max(1, format.period, format.rate / 10)
        let stride = MemoryLayout<Float>.stride
        let sizes = [
            capacity * format.channels * stride, capacity * stride, mix.echo?.channel == nil ? 0 : capacity * stride,
            capacity * format.frameBytes,
        ]
        // What throws comes before any property is set, or Swift 6.2 fails.
        self.init(
            format,
            mix,
            length,
            capacity: capacity,
            sizes,
            memory: try PinnedMemory(size: sizes.reduce(0, +)),
            blocks: try BlockCutter.blocks(format, mix, quality, length)
        )
    }

    private init(
        _ format: StreamFormat,
        _ mix: ChannelMix,
        _ length: Int,
        capacity: Int,
        _ sizes: [Int],
        memory: consuming PinnedMemory,
        blocks: consuming BlockMaker
    ) {
        let bytes = memory.bytes
        var start = 0
        func next(_ size: Int) -> UnsafeMutableRawBufferPointer {
            defer { start += size }
            return UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + size])
        }
        interleaved = next(sizes[0]).bindMemory(to: Float.self)
        mono = next(sizes[1]).bindMemory(to: Float.self)
        reference = next(sizes[2]).bindMemory(to: Float.self)
        frames = next(sizes[3])
        self.format = format
        mixer = ChannelMixer(mix, channels: format.channels)
        reader = SampleReading.Declared(format.sample).map {
            SampleReader($0, rate: format.rate, channels: format.channels, isLive: true)
        }
        self.capacity = capacity
        self.length = length
        self.memory = memory
        self.blocks = blocks
    }

    private static func blocks(
        _ format: StreamFormat,
        _ mix: ChannelMix,
        _ quality: Resampler.Quality,
        _ length: Int
    ) throws(CaptureError) -> BlockMaker {
        do throws(AudioError) {
            try mix.check(channels: format.channels, of: "the audio device")
            return try BlockMaker(from: format.rate, quality: quality, echo: mix.echo, length: length)
        } catch {
            throw .unsupported(error.description)
        }
    }

    /// Discards all audio so far, including an incomplete block.
    mutating func reset() throws(AudioError) {
        try blocks.reset()
        framesTaken = 0
    }

    /// About how many more frames complete the next block, rounded up.
    var framesToBlock: Int { (length - blocks.filled) * format.rate / AudioFormat.sampleRate + 2 }

    /// How samples are read; nil for those of 16 bits.
    var reading: SampleReading? { reader?.reading }

    /// Whether they have been too quiet for half a minute to tell how they are to be read.
    var isQuiet: Bool { reader?.isQuiet() ?? false }

    /// Audio since the last ``reset()`` that is in no block yet.
    var pending: Duration {
        let taken = Double(framesTaken) / Double(format.rate)
        let published = Double(blocks.samples - blocks.filled) / Double(AudioFormat.sampleRate)
        return .nanoseconds(Int64(((taken - published) * 1e9).rounded()))
    }

    /// Processes frames that were read into ``frames``.
    ///
    /// - Parameters:
    ///   - count: At most ``capacity``.
    ///   - time: When the last of them was captured.
    ///   - output: Gets each complete block.
    mutating func take(_ count: Int, time: Instant, into output: CaptureOutput) throws(AudioError) {
        let source = UnsafeRawBufferPointer(rebasing: frames.prefix(count * format.frameBytes))
        var samples = interleaved.mutableSpan
        format.decode(source, into: &samples)
        reader?.pass(UnsafeMutableBufferPointer(rebasing: interleaved.prefix(count * format.channels)))
        var room = mono.mutableSpan
        let taken = UnsafeBufferPointer(interleaved).span.extracting(first: count * format.channels)
        mixer.mix(taken, into: &room)
        if let channel = mix.echo?.channel {
            var played = reference.mutableSpan
            ChannelMixer.pick(channel, of: taken, channels: format.channels, into: &played)
            try blocks.add(reference: UnsafeBufferPointer(reference).span.extracting(first: count))
        }
        framesTaken += count
        let newest = Double(framesTaken - 1) / Double(format.rate)
        if mix.echo?.reference == .device { takeReference(output.reference, newest: newest, time: time) }
        let (faults, reduction) = (mixer.faults, blocks.reduction)
        // Samples that are still in the filters are flushed by the next frames.
        try blocks.add(UnsafeBufferPointer(mono).span.extracting(first: count)) { block, played, end in
            // Output sample n is at n / 16000 s of the input.
            let age = newest - Double(end - 1) / Double(AudioFormat.sampleRate)
            output.publish(
                block,
                time: time - .nanoseconds(Int64((age * 1e9).rounded())),
                faults: faults,
                played: played,
                reduction: reduction
            )
        }
    }

    /// Takes what a device of its own has played until now.
    ///
    /// - Parameters:
    ///   - newest: place of the microphone's newest frame, in seconds.
    ///   - time: when that was captured.
    private mutating func takeReference(_ queue: ReferenceQueue, newest: Double, time: Instant) {
        while let piece = queue.pop() {
            // A constant of its own, without which Swift 6.2 fails.
            let samples = piece.samples
            blocks.add(piece: samples.span, continues: piece.continues)
            referenceTime = piece.time
        }
        guard !blocks.isAligned else { return }
        let rate = Double(AudioFormat.sampleRate)
        let later = (referenceTime - time).seconds * rate
        let ahead = newest * rate - Double(blocks.samples - blocks.filled)
        blocks.align(first: later + ahead, newest: later)
    }
}
