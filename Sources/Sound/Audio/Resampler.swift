import CSampleRate
import Core

/// Resamples mono audio of 8 to 192 kHz to 16 kHz, in parts of any size.
///
/// Output sample `n` is at `n / 16000` s of the input. After the end of input exactly `ceil(frames · 16000 / rate)`
/// samples have been written, bit-identical for every division of the input into parts. Nothing allocates after `init`.
/// At 16 kHz the samples are copied. At common rates an output sample is written once 3.4 ms of input after its time are there (9 ms
/// at 8 kHz).
///
/// Rates in a ratio of small integers to 16 kHz, which are all common ones, need one linear-phase filter (``PolyphaseFilter``). Others
/// need a converter of libsamplerate. Its converters reject everything above half the lower rate, but attenuate the band below it: at
/// 7 kHz `SINC_FASTEST` loses 13.8 dB and `SINC_MEDIUM_QUALITY` 0.28 dB; `SINC_BEST_QUALITY` is flat, but costs several times as much
/// as either. So the cheapest one converts to 32 kHz, where its roll-off is above the speech band, and the filter removes 8–16 kHz.
/// The resampler's tests print a table of the figures.
public struct Resampler: ~Copyable {
    /// Which converters run: a choice between cost and accuracy.
    public enum Quality: Sendable, CaseIterable {
        /// The default: ripple < 0.1 dB up to 7 kHz (or 0.9 of half the input rate, if that is less), rejection ≥ 90 dB
        /// from 8 kHz on. A polyphase filter, for uncommon rates after `SINC_FASTEST` to 32 kHz. For uncommon rates below
        /// 20 kHz, where the roll-off of that converter would be inside the band, `SINC_BEST_QUALITY` is used.
        case standard
        /// For many streams at a time, at a bounded price for each: as `standard` at ``commonRates`` and at rates in a very simple
        /// ratio to 16 kHz; all others go through `SINC_FASTEST`, and below 20 kHz so lose what is above 0.35 of their rate. A
        /// resampler needs at most 110 kB besides the taps of the common rates, which all share; at `standard` it may need 1.4 MB.
        case shared
        /// `SINC_BEST_QUALITY` directly to 16 kHz: rejection ≥ 120 dB, flat up to 7.7 kHz, at many times the cost.
        case best
    }

    /// The result of one call, in samples.
    public struct Progress: Equatable, Sendable {
        /// Input samples used; pass the others again.
        public var consumed = 0
        /// Output samples written.
        public var produced = 0
    }

    /// The rates of sound cards, files and telephones, in Hz.
    public static let commonRates: Set<Int> = [
        8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000, 176_400, 192_000,
    ]
    /// Bytes of taps for any other rate of ``Quality/shared``.
    private static let largestUncommonBank = 32 << 10

    /// Accepted input rates, in Hz.
    public static let inputRates = 8_000...192_000

    /// From this rate in Hz on the passband of `SINC_FASTEST`, about 0.7 of its band, includes 7 kHz.
    private static let leastConvertedRate = 20_000

    public let inputRate: Int
    private let converter: Converter
    private var filter: PolyphaseFilter?
    private let silence = [Float](repeating: 0, count: 256)
    private var consumed = 0
    private var produced = 0

    /// - Throws: ``AudioError/converter`` for a rate outside ``inputRates`` or if libsamplerate gets no memory.
    public init(from inputRate: Int, quality: Quality = .standard) throws(AudioError) {
        guard Resampler.inputRates.contains(inputRate) else {
            throw .converter.saying(
                "cannot resample from \(inputRate) Hz; rates from \(Resampler.inputRates.lowerBound) to "
                    + "\(Resampler.inputRates.upperBound) Hz are accepted, convert the audio first"
            )
        }
        let target = AudioFormat.sampleRate
        let isCheap = quality == .shared && !Resampler.commonRates.contains(inputRate)
        let largest = isCheap ? Resampler.largestUncommonBank : PolyphaseFilter.largestBank
        let kind: Int
        let rate: Int
        let filter: PolyphaseFilter?
        if quality != .best, inputRate != target, let direct = PolyphaseFilter(from: inputRate, largest: largest) {
            (kind, rate, filter) = (SRC_SINC_FASTEST, inputRate, direct)
        } else if quality == .shared && inputRate != target
            || quality == .standard && inputRate >= Resampler.leastConvertedRate
        {
            (kind, rate, filter) = (SRC_SINC_FASTEST, 2 * target, PolyphaseFilter(from: 2 * target))
        } else {
            (kind, rate, filter) = (SRC_SINC_BEST_QUALITY, target, nil)
        }
        let converter = try Converter(kind: kind, from: inputRate, to: rate)
        self.init(inputRate, converter, filter)
    }

    /// See ``AudioFile`` for why there are two.
    private init(_ inputRate: Int, _ converter: consuming Converter, _ filter: PolyphaseFilter?) {
        self.inputRate = inputRate
        self.converter = converter
        self.filter = filter
    }

    /// Discards all audio so far; the next input sample is the first.
    public mutating func reset() throws(AudioError) {
        try converter.reset()
        filter?.reset()
        consumed = 0
        produced = 0
    }

    /// The number of output samples for a number of input frames at a rate in Hz.
    public static func outputLength(of frames: Int, at rate: Int) -> Int {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: rate)
        return seconds * AudioFormat.sampleRate + (rest * AudioFormat.sampleRate + rate - 1) / rate
    }

    /// Converts until the input is used up or the output is full.
    ///
    /// - Parameters:
    ///   - input: Mono samples at ``inputRate``.
    ///   - output: Gets samples at 16 kHz.
    ///   - endOfInput: Whether no more input follows. Then call again, with empty input when all is used, until
    ///     nothing is produced; call ``reset()`` before other audio.
    /// - Throws: ``AudioError/converter`` with libsamplerate's text.
    @_lifetime(output: copy output)
    public mutating func process(
        _ input: Span<Float>,
        into output: inout MutableSpan<Float>,
        endOfInput: Bool
    ) throws(AudioError) -> Progress {
        try input.withUnsafeBufferPointer { input throws(AudioError) in
            try output.withUnsafeMutableBufferPointer { output throws(AudioError) in
                try process(input, into: output, endOfInput: endOfInput)
            }
        }
    }

    mutating func process(
        _ input: UnsafeBufferPointer<Float>,
        into output: UnsafeMutableBufferPointer<Float>,
        endOfInput: Bool
    ) throws(AudioError) -> Progress {
        var progress = Progress()
        while progress.produced < output.count {
            let rest = UnsafeBufferPointer(rebasing: input[progress.consumed...])
            let atEnd = endOfInput && rest.isEmpty
            var room = UnsafeMutableBufferPointer(rebasing: output[progress.produced...])
            if atEnd {
                // Silence flushes the last samples out of the filters; the exact length says when to stop.
                let total = Resampler.outputLength(of: consumed, at: inputRate)
                room = UnsafeMutableBufferPointer(rebasing: room.prefix(max(0, total - produced)))
                if room.isEmpty { break }
            }
            let step =
                if atEnd {
                    try silence.withUnsafeBufferPointer { silence throws(AudioError) in try convert(silence, room) }
                } else {
                    try convert(rest, room)
                }
            if !atEnd {
                progress.consumed += step.consumed
                consumed += step.consumed
            }
            progress.produced += step.produced
            produced += step.produced
            if step.consumed == 0, step.produced == 0 { break }
        }
        return progress
    }

    private mutating func convert(
        _ input: UnsafeBufferPointer<Float>,
        _ output: UnsafeMutableBufferPointer<Float>
    ) throws(AudioError) -> Progress {
        guard filter != nil else { return try converter.run(input, output) }
        var progress = Progress()
        // The samples in the delay line are filtered first, so that it never overflows.
        progress.produced = filter?.drain(into: output) ?? 0
        if progress.produced == 0 {
            progress.consumed = try filter?.take(from: converter, input) ?? 0
            progress.produced = filter?.drain(into: output) ?? 0
        }
        return progress
    }
}
