import CSndFile
import Glibc

/// An audio file open for reading, in any format that libsndfile reads (WAV, RF64, AIFF, FLAC, Ogg Vorbis, Opus …).
///
/// Samples are 32-bit floats: integer formats are scaled to −1…1; float formats are not changed and may exceed ±1. Of
/// a damaged file the good part is returned first, and the error is thrown when reading reaches the damage, so a caller
/// can use that part and still report the file.
public struct AudioFile: ~Copyable {
    /// Accepted sample rates, in Hz.
    public static let rates = 8_000...192_000
    /// The largest magnitude of a float sample: that of 32-bit integers. The sum of all channels, and the energy of a window,
    /// then stay finite.
    public static let largestSample: Float = 0x1p31

    public let path: String
    /// Frames per second.
    public let sampleRate: Int
    public let channels: Int
    /// Frames according to the header; nil if it does not say (a stream whose header was not updated at its end).
    public let frames: Int?
    /// Short name of container and coding, such as `WAV 16-bit`.
    public let format: String
    private let checksSamples: Bool
    private let shortage: DeclaredSize.Shortage?
    // The decoder is declared before the file that it reads from, so that it is closed first.
    private let decoder: Decoder
    private let file: RegularFile
    private var framesRead = 0
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
        let decoder = try Decoder(file: file, path: path)
        try AudioFile.check(decoder.info, path: path)
        self.init(path, file, decoder)
    }

    /// All that may throw is done before: where the `init` of a noncopyable type throws, Swift 6.2 releases twice what its
    /// properties have as defaults.
    private init(_ path: String, _ file: consuming RegularFile, _ decoder: consuming Decoder) {
        let info = decoder.info
        sampleRate = Int(info.samplerate)
        channels = Int(info.channels)
        // libsndfile reports the largest Int64 for streams whose end it cannot find.
        frames = info.frames == Int64.max ? nil : Int(info.frames)
        format = FormatName.name(of: info.format)
        checksSamples = !FormatName.isInteger(info.format)
        shortage = DeclaredSize.shortage(descriptor: file.descriptor, fileSize: file.size, log: decoder.log)
        self.path = path
        self.decoder = decoder
        self.file = file
    }

    /// Reads the next frames, interleaved.
    ///
    /// - Parameters:
    ///   - output: Gets `[frames × channels]` samples.
    ///   - maxFrames: The most frames to read.
    /// - Returns: Frames read; fewer than fit only near the end or before damage; 0 at the end.
    /// - Throws: At the end of the good part: ``AudioError/truncated`` if the file is shorter than its header
    ///   declares, ``AudioError/notFinite`` with the time of a sample that is NaN or beyond ``largestSample``, or
    ///   ``AudioError/undecodable`` with libsndfile's text. Further calls throw the same error.
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
        guard !ended else {
            if let failure { throw failure }
            return 0
        }
        var count = decoder.read(into: target, frames: wanted)
        // A file that grows faster than it is read would have no end, where its header promises more than it held.
        let isBeyondEnd = lseek(file.descriptor, 0, SEEK_CUR) > file.size
        if checksSamples, let bad = SampleCheck.firstUnusable(output.prefix(count * channels)) {
            count = bad / channels
            ended = true
            failure = unusable(output[bad], channel: bad % channels, frame: framesRead + count)
        } else if count < wanted || isBeyondEnd {
            ended = true
            failure = failureAtEnd(after: framesRead + count)
        }
        framesRead += count
        if count == 0, let failure { throw failure }
        return count
    }

    private static func check(_ info: SF_INFO, path: String) throws(AudioError) {
        let name = AudioError.quoted(path)
        guard rates.contains(Int(info.samplerate)) else {
            throw .unsupported.saying(
                "audio file \(name) has a sample rate of \(info.samplerate) Hz; \(rates.lowerBound) to "
                    + "\(rates.upperBound) Hz are accepted, convert it first"
            )
        }
        let counts = ChannelMix.channelCounts
        guard counts.contains(Int(info.channels)) else {
            throw .unsupported.saying(
                "audio file \(name) has \(info.channels) channels; \(counts.lowerBound) to \(counts.upperBound) are "
                    + "accepted, choose or mix them first"
            )
        }
        guard info.frames > 0 else {
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

    private func failureAtEnd(after total: Int) -> AudioError? {
        let name = AudioError.quoted(path)
        let advice = "copy or record it again"
        if let shortage {
            return .truncated.saying(
                "audio file \(name) ends early, after \(seconds(total)) s: its header promises \(shortage.declared) "
                    + "bytes \(shortage.what), \(shortage.declared - shortage.present) are missing; \(advice)"
            )
        }
        let text = decoder.errorText
        let reason = text.map { " (sf_readf_float: \($0))" } ?? ""
        if let frames, total < frames {
            return .truncated.saying(
                "audio file \(name) ends early or is damaged at \(seconds(total)) s: its header promises \(frames) "
                    + "frames, \(frames - total) are missing\(reason); \(advice)"
            )
        }
        if decoder.log.contains("without an End-Of-Stream flag"),
            !OggEnd.isMarked(descriptor: file.descriptor, fileSize: file.size)
        {
            return .truncated.saying(
                "audio file \(name) ends early, after \(seconds(total)) s: the last page of the Ogg stream is "
                    + "missing; \(advice)"
            )
        }
        return text.map {
            .undecodable.saying(
                "audio file \(name) is damaged at \(seconds(total)) s (sf_readf_float: \($0)); \(advice)"
            )
        }
    }

    /// The time of a frame in seconds, with three decimals.
    private func seconds(_ frame: Int) -> String {
        let milliseconds = frame.multipliedFullWidth(by: 1000)
        let (whole, _) = sampleRate.dividingFullWidth(milliseconds)
        let rest = String(whole % 1000)
        return "\(whole / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}
