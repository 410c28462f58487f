import Core
import Echo

/// Reads a file as mono blocks at 16 kHz: decodes, mixes, resamples and removes an echo a part at a time.
///
/// Nothing allocates after `init`, whatever the length of the file.
public struct FileBlocks: ~Copyable {
    private static let framesPerRead = 2048

    /// Samples of the whole file at 16 kHz, by its header; nil if the header does not say.
    public var expectedSamples: Int? {
        file.frames.map { Resampler.outputLength(of: $0, at: file.sampleRate) }
    }

    private let path: String
    private var mixer: ChannelMixer
    private var echo: EchoSettings? { mixer.mix.echo }
    private var interleaved: [Float]
    private var mono: [Float]
    /// What is played, where its echo is removed.
    private var reference: [Float]
    private var canceller: EchoStage
    /// Samples of `mono` not yet resampled.
    private var waiting = 0..<0
    private var ended = false
    private var failure: AudioError?
    private var resampler: Resampler
    private var file: AudioFile

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - mix: How its channels are mixed to one.
    ///   - quality: The resampler's quality, if the file is not at 16 kHz.
    /// - Throws: The errors of ``AudioFile/init(path:)``, or ``AudioError/noSuchChannel``.
    public init(
        path: String,
        mix: ChannelMix = .mix,
        quality: Resampler.Quality = .standard
    ) throws(AudioError) {
        let file = try AudioFile(path: path)
        try mix.checkMixed(channels: file.channels, of: "audio file \(AudioError.quoted(path))")
        let resampler = try Resampler(from: file.sampleRate, quality: quality)
        let rate = file.sampleRate
        self.init(file, path, mix, resampler, try EchoStage(mix.echo, rate: rate, quality: quality))
    }

    /// See ``AudioFile`` for why there are two.
    private init(
        _ file: consuming AudioFile,
        _ path: String,
        _ mix: ChannelMix,
        _ resampler: consuming Resampler,
        _ canceller: consuming EchoStage
    ) {
        self.path = path
        mixer = ChannelMixer(mix, channels: file.channels)
        self.resampler = resampler
        interleaved = [Float](repeating: 0, count: FileBlocks.framesPerRead * file.channels)
        mono = [Float](repeating: 0, count: FileBlocks.framesPerRead)
        reference = mix.echo == nil ? [] : mono
        self.canceller = canceller
        self.file = file
    }

    /// What was played during the block that was written last, in time with its echo; empty where no echo is removed.
    var played: Span<Float> { canceller.played }

    /// Writes the next block.
    ///
    /// - Parameter block: Filled completely, usually ``AudioFormat/hopSamples`` samples; zeros follow the last sample
    ///   of the file.
    /// - Returns: The number of the file's samples in the block; nil at the end.
    /// - Throws: The errors of ``AudioFile/read(into:maxFrames:)``, after all good audio was returned.
    public mutating func next(into block: inout MutableSpan<Float>) throws(AudioError) -> Int? {
        try block.withUnsafeMutableBufferPointer { block throws(AudioError) in try next(into: block) }
    }

    private mutating func next(into block: UnsafeMutableBufferPointer<Float>) throws(AudioError) -> Int? {
        var filled = 0
        while filled < block.count {
            if waiting.isEmpty, !ended { refill() }
            let range = waiting
            let atEnd = ended
            let progress = try mono.withUnsafeBufferPointer { mono throws(AudioError) in
                try resampler.process(
                    UnsafeBufferPointer(rebasing: mono[range]),
                    into: UnsafeMutableBufferPointer(rebasing: block[filled...]),
                    endOfInput: atEnd
                )
            }
            waiting = (range.lowerBound + progress.consumed)..<range.upperBound
            filled += progress.produced
            if atEnd, progress.produced == 0, waiting.isEmpty { break }
        }
        for index in filled..<block.count { block[index] = 0 }
        if echo != nil, filled > 0 {
            var samples = block.mutableSpan
            canceller.cancel(in: &samples)
        }
        if filled > 0 { return filled }
        if let failure { throw failure }
        return nil
    }

    private mutating func refill() {
        do throws(AudioError) {
            let frames = try interleaved.withUnsafeMutableBufferPointer { buffer throws(AudioError) in
                try file.read(into: buffer, maxFrames: FileBlocks.framesPerRead)
            }
            interleaved.withUnsafeBufferPointer { buffer in
                let sound = UnsafeBufferPointer(rebasing: buffer.prefix(frames * file.channels))
                mono.withUnsafeMutableBufferPointer { mono in _ = mixer.mix(sound, into: mono) }
            }
            try addReference(frames)
            waiting = 0..<frames
            ended = frames == 0
            if ended { reportFaults() }
        } catch {
            // The resampler still holds good audio, which is returned before the error is thrown.
            failure = error
            ended = true
            reportFaults()
        }
    }

    private mutating func addReference(_ frames: Int) throws(AudioError) {
        guard let channel = echo?.channel else { return }
        let channels = file.channels
        // A span of a property would borrow all of `self`.
        var reference: [Float] = []
        swap(&reference, &self.reference)
        defer { swap(&reference, &self.reference) }
        var room = reference.mutableSpan
        ChannelMixer.pick(
            channel,
            of: interleaved.span.extracting(first: frames * channels),
            channels: channels,
            into: &room
        )
        try canceller.add(reference: reference.span.extracting(first: frames))
    }

    /// Warns of channels that were turned. Those that are silent are usual in files.
    fileprivate func reportFaults() {
        let faults = ChannelFaults(turned: mixer.faults.turned, dead: [])
        if let warning = faults.warning("audio file \(AudioError.quoted(path))") { AudioWarnings.report(warning) }
    }
}

extension FileBlocks {
    /// Reads a clip into memory: at most `seconds` of audio, mono at 16 kHz.
    ///
    /// Audio after `seconds` is not read, so damage there is not noticed.
    ///
    /// - Returns: The samples, at most `seconds` · 16000; memory is allocated as audio arrives.
    /// - Throws: The errors of opening and reading the file; no samples are returned then.
    public static func readClip(
        path: String,
        atMost seconds: Double,
        mix: ChannelMix = .mix,
        quality: Resampler.Quality = .standard
    ) throws(AudioError) -> [Float] {
        var blocks = try FileBlocks(path: path, mix: mix, quality: quality)
        let limit = Int(exactly: (seconds * Double(AudioFormat.sampleRate)).rounded(.up)) ?? (seconds > 0 ? .max : 0)
        var clip: [Float] = []
        var block = [Float](repeating: 0, count: AudioFormat.hopSamples)
        while clip.count < limit {
            var span = block.mutableSpan
            guard let count = try blocks.next(into: &span) else { break }
            clip.append(contentsOf: block.prefix(min(count, limit - clip.count)))
        }
        // The end was not reached.
        if clip.count >= limit { blocks.reportFaults() }
        return clip
    }
}
