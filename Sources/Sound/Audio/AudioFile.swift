private import Core

/// An audio file open for reading: WAV, RF64, AIFF, CAF, FLAC, Ogg (Vorbis, Opus, FLAC), MPEG audio, and what else libsndfile reads.
///
/// It is read to its real end, whatever its header declares: sizes that were never written, or wrapped around, joined files and
/// chained streams. Bytes that are not audio, chunk, tag or padding are an error at the end.
///
/// Samples are 32-bit floats: integer formats are scaled to −1…1; float formats may exceed ±1, up to ±8. Samples that are not what
/// the header declares are read as ``ReadingRule`` tells, with a warning (``AudioWarnings``). Of
/// a damaged file the good part is returned first, and the error is thrown when reading reaches the damage, so a caller
/// can use that part and still report the file.
public struct AudioFile: ~Copyable {
    /// The largest magnitude of a float sample: that of 32-bit integers. The sum of all channels, and the energy of a window,
    /// then stay finite.
    public static let largestSample: Float = 0x1p31

    public let path: String
    /// Frames per second.
    public let sampleRate: Int
    public let channels: Int
    /// Frames according to the header of the first part, or an estimate; nil if nothing is known.
    public let frames: Int?
    /// Short name of container and coding, such as `WAV 16-bit`.
    public let format: String
    // The part is declared before the file that it reads from, so that it is closed first.
    private var part: AudioPart
    private let file: RegularFile
    /// Reads samples whose header leaves something to tell; nil for others. Of the next part, where that is of another kind.
    private var reader: SampleReader?
    private var nextReader: SampleReader??
    private var framesRead = 0
    /// Frames read before the part.
    private var partStart = 0
    private var ended = false
    private var failure: AudioError?

    /// Opens a file and reads its header.
    ///
    /// Only regular files are opened: a pipe or a device could block forever.
    ///
    /// - Throws: ``AudioError/notFound``, ``AudioError/unreadable``, ``AudioError/notRegularFile``,
    ///   ``AudioError/emptyFile``, ``AudioError/notAudio``, ``AudioError/undecodable``,
    ///   ``AudioError/unsupported`` or ``AudioError/noAudio``; each message names the file.
    public init(path: String) throws(AudioError) {
        let file = try RegularFile(path: path)
        let part = try AudioPart.open(file, at: 0, path: path)
        try AudioFile.check(part.header, path: path)
        self.init(path, file, part)
    }

    /// All that may throw is done before: where the `init` of a noncopyable type throws, Swift 6.2 releases twice what its
    /// properties have as defaults.
    private init(_ path: String, _ file: consuming RegularFile, _ part: consuming AudioPart) {
        sampleRate = part.header.sampleRate
        channels = part.header.channels
        frames = part.header.frames
        format = part.header.format
        self.path = path
        reader = Self.reader(part.header)
        self.part = part
        self.file = file
    }

    private static func reader(_ part: PartHeader) -> SampleReader? {
        part.declared.map { SampleReader($0, rate: part.sampleRate, channels: part.channels) }
    }

    /// Reads the next frames, interleaved.
    ///
    /// - Parameters:
    ///   - output: Gets `[frames × channels]` samples.
    ///   - maxFrames: The most frames to read.
    /// - Returns: Frames read; fewer than fit only near the end, where a part ends, or before damage; 0 at the end.
    /// - Throws: At the end of the good part: ``AudioError/truncated`` if the file is shorter than its header
    ///   declares, ``AudioError/notFinite`` with the time of a sample that is NaN or beyond ``largestSample``,
    ///   ``AudioError/undecodable`` with the decoder's text, ``AudioError/leftover`` for bytes that are not audio, or an error of
    ///   opening the next part. Further calls throw the same error.
    public mutating func read(
        into output: inout MutableSpan<Float>,
        maxFrames: Int = .max
    ) throws(AudioError) -> Int {
        try output.withUnsafeMutableBufferPointer { output throws(AudioError) in
            try read(into: output, maxFrames: maxFrames)
        }
    }

    mutating func read(
        into output: UnsafeMutableBufferPointer<Float>,
        maxFrames: Int = .max
    ) throws(AudioError) -> Int {
        let wanted = max(0, min(maxFrames, output.count / channels))
        guard wanted > 0, let target = output.baseAddress else { return 0 }
        while true {
            let given = reader?.pull(into: UnsafeMutableBufferPointer(rebasing: output.prefix(wanted * channels))) ?? 0
            warn(isEnd: ended)
            if given > 0 { return given / channels }
            if let next = nextReader { (reader, nextReader) = (next, nil) }
            if ended { break }
            // What is kept back is taken in pieces that end where it may be told.
            let isPassing = reader?.isPassing ?? true
            let most = isPassing ? wanted : min(wanted, (reader?.room ?? 0) / channels)
            let count = decode(into: target, frames: most, output)
            let sound = UnsafeMutableBufferPointer(rebasing: output.prefix(count * channels))
            if isPassing { reader?.pass(sound) } else { reader?.push(UnsafeBufferPointer(sound)) }
            framesRead += count
            if count < most { endPart() }
            if ended || nextReader != nil { reader?.finish() }
            if isPassing, count > 0 { return count }
        }
        if let failure { throw failure }
        return 0
    }

    /// Decodes frames of the part, up to a sample that is not usable.
    private mutating func decode(
        into target: UnsafeMutablePointer<Float>,
        frames: Int,
        _ output: UnsafeMutableBufferPointer<Float>
    ) -> Int {
        let count = part.read(into: target, frames: frames, of: file)
        guard part.header.checksSamples, let bad = SampleCheck.firstUnusable(output.prefix(count * channels)) else {
            return count
        }
        let whole = bad / channels
        ended = true
        failure = unusable(output[bad], channel: bad % channels, frame: framesRead + whole)
        return whole
    }

    private mutating func warn(isEnd: Bool) {
        guard let line = reader?.warning("audio file \(AudioError.quoted(path))", isEnd: isEnd) else { return }
        AudioWarnings.report(line)
    }

    /// Ends a part of which all was read, and opens the next one.
    private mutating func endPart() {
        guard !ended else { return }
        let count = framesRead - partStart
        switch part.end(after: count, at: seconds(framesRead), path: path, file: file) {
        case .faulty(let error): (ended, failure) = (true, error)
        case .whole(let end):
            switch FileRest(of: file, from: end) {
            case .nothing: ended = true
            case .audio(let next)
            where count > 0 && next > part.start && !(part.isMPEG && Magic(of: file, at: next) == .mpeg):
                do throws(AudioError) {
                    let former = part.header.declared
                    part = try nextPart(at: next)
                    partStart = framesRead
                    // The same kind of samples is read as those before.
                    if part.header.declared != former { nextReader = .some(Self.reader(part.header)) }
                } catch {
                    (ended, failure) = (true, error)
                }
            case .audio(let next): (ended, failure) = (true, leftover(next..<file.size))
            case .unknown(let bytes): (ended, failure) = (true, leftover(bytes))
            }
        }
    }

    private func nextPart(at start: Int) throws(AudioError) -> AudioPart {
        let next = try AudioPart.open(file, at: start, path: path)
        guard next.header.sampleRate == sampleRate, next.header.channels == channels else {
            throw .unsupported.saying(
                "audio file \(AudioError.quoted(path)) continues with other audio from byte \(start) on, after \(seconds(framesRead)) s "
                    + "(\(next.header.sampleRate) Hz, channels: \(next.header.channels)); split it there"
            )
        }
        return next
    }

    private func leftover(_ bytes: Range<Int>) -> AudioError {
        AudioPart.leftover(
            bytes,
            "audio file \(AudioError.quoted(path))",
            "were not decoded, after \(seconds(framesRead)) s of audio: they are not whole audio, a chunk or a tag; "
                + "copy or record it again, or cut them off"
        )
    }

    private static func check(_ part: PartHeader, path: String) throws(AudioError) {
        let name = AudioError.quoted(path)
        let rates = Resampler.inputRates
        guard rates.contains(part.sampleRate) else {
            throw .unsupported.saying(
                "audio file \(name) has a sample rate of \(part.sampleRate) Hz; \(rates.lowerBound) to "
                    + "\(rates.upperBound) Hz are accepted, convert it first"
            )
        }
        let counts = ChannelMix.channelCounts
        guard counts.contains(part.channels) else {
            throw .unsupported.saying(
                "audio file \(name) has \(part.channels) channels; \(counts.lowerBound) to \(counts.upperBound) are "
                    + "accepted, choose or mix them first"
            )
        }
        guard part.frames != 0 else {
            throw .noAudio.saying("audio file \(name) has a header but no audio after it; record it again")
        }
    }

    private func unusable(_ sample: Float, channel: Int, frame: Int) -> AudioError {
        let what = sample.isFinite ? "a sample of \(sample), far beyond ±1," : "a NaN or infinite sample"
        return .notFinite.saying(
            "audio file \(AudioError.quoted(path)) holds \(what) at \(seconds(frame)) s "
                + "(frame \(frame), channel \(channel)); write the file again"
        )
    }

    /// The time of a frame in seconds, with three decimals.
    private func seconds(_ frame: Int) -> String {
        let milliseconds = frame.multipliedFullWidth(by: 1000)
        let (whole, _) = sampleRate.dividingFullWidth(milliseconds)
        return "\(whole / 1000)." + padded(whole % 1000, 3)
    }
}
