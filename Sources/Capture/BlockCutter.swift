import Audio
import Core
import Glibc

/// Cuts a device's frames into blocks at 16 kHz: converts, mixes to one channel and resamples.
///
/// Nothing allocates after `init`.
struct BlockCutter: ~Copyable {
    let format: StreamFormat
    /// Where the device writes frames; room for ``capacity`` of them.
    let frames: UnsafeMutableRawBufferPointer
    /// Frames that can be taken at once.
    let capacity: Int
    var isLocked: Bool { memory.isLocked }

    private let mix: ChannelMix
    private let memory: PinnedMemory
    private let interleaved: UnsafeMutableBufferPointer<Float>
    private let mono: UnsafeMutableBufferPointer<Float>
    private let block: UnsafeMutableBufferPointer<Float>
    private var filled = 0
    private var resampler: Resampler
    /// Counted since the last ``reset()``.
    private var framesTaken = 0
    private var samplesMade = 0

    init(format: StreamFormat, mix: ChannelMix, quality: Resampler.Quality) throws(CaptureError) {
        // Room for a block, where the device holds as much.
        let capacity = max(1, format.period, format.rate / 10)
        let stride = MemoryLayout<Float>.stride
        let sizes = [
            capacity * format.channels * stride, capacity * stride, AudioFormat.hopSamples * stride,
            capacity * format.frameBytes,
        ]
        let resampler = try BlockCutter.resampler(format, mix, quality)
        let memory = try PinnedMemory(size: sizes.reduce(0, +))
        let bytes = memory.bytes
        var start = 0
        func next(_ size: Int) -> UnsafeMutableRawBufferPointer {
            defer { start += size }
            return UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + size])
        }
        interleaved = next(sizes[0]).bindMemory(to: Float.self)
        mono = next(sizes[1]).bindMemory(to: Float.self)
        block = next(sizes[2]).bindMemory(to: Float.self)
        frames = next(sizes[3])
        self.format = format
        self.mix = mix
        self.capacity = capacity
        self.memory = memory
        self.resampler = resampler
    }

    private static func resampler(
        _ format: StreamFormat,
        _ mix: ChannelMix,
        _ quality: Resampler.Quality
    ) throws(CaptureError) -> Resampler {
        do throws(AudioError) {
            try mix.check(channels: format.channels, of: "the audio device")
            return try Resampler(from: format.rate, quality: quality)
        } catch {
            throw .unsupported(error.description)
        }
    }

    /// Forgets all audio so far; an unfinished block is lost.
    mutating func reset() throws(AudioError) {
        try resampler.reset()
        (filled, framesTaken, samplesMade) = (0, 0, 0)
    }

    /// Frames until the next block is full, or a few more.
    var framesToBlock: Int { (block.count - filled) * format.rate / AudioFormat.sampleRate + 2 }

    /// Takes frames that the device wrote to ``frames``.
    ///
    /// - Parameters:
    ///   - count: At most ``capacity``.
    ///   - time: When the last of them was captured.
    ///   - output: Gets each block that is full.
    mutating func take(_ count: Int, time: Instant, into output: CaptureOutput) throws(AudioError) {
        let source = UnsafeRawBufferPointer(rebasing: frames.prefix(count * format.frameBytes))
        var samples = interleaved.mutableSpan
        format.sample.convert(source.bytes, into: &samples)
        var room = mono.mutableSpan
        let taken = UnsafeBufferPointer(interleaved).span.extracting(first: count * format.channels)
        mix.apply(to: taken, channels: format.channels, into: &room)
        framesTaken += count
        var used = 0
        // Samples still in the filters come out with the next frames.
        while used < count {
            let input = UnsafeBufferPointer(mono).span.extracting(used..<count)
            var rest = UnsafeMutableBufferPointer(rebasing: block[filled...]).mutableSpan
            let progress = try resampler.process(input, into: &rest, endOfInput: false)
            used += progress.consumed
            filled += progress.produced
            samplesMade += progress.produced
            if filled == block.count {
                filled = 0
                output.publish(UnsafeBufferPointer(block).span, time: time - ageOfBlock())
            } else if progress.consumed == 0, progress.produced == 0 {
                return
            }
        }
    }

    /// How long before the newest frame the block's last sample lies.
    private func ageOfBlock() -> Duration {
        // Sample n of the output lies at n / 16000 s of the input.
        let age =
            Double(framesTaken - 1) / Double(format.rate) - Double(samplesMade - 1) / Double(AudioFormat.sampleRate)
        return .nanoseconds(Int64((age * 1e9).rounded()))
    }
}
