import CSampleRate
import Core

/// Turns mono audio of any rate from 8 to 192 kHz into 16 kHz, in parts of any size.
///
/// Output sample `n` lies at the time `n / 16000` of the input; after the end of input exactly
/// `ceil(frames · 16000 / rate)` samples have come out, bit-identical
/// for every division of the input into parts. Nothing allocates after `init`. At 16 kHz the samples pass through untouched.
///
/// libsamplerate's converters stop everything from half the lower rate on, but pay for it inside the band: at
/// 7 kHz `SINC_FASTEST` has lost 13.8 dB and `SINC_MEDIUM_QUALITY` 0.28 dB, and `SINC_BEST_QUALITY`, which is flat,
/// costs several times as much as either. So the cheapest runs to 32 kHz, where its edge does no harm, and a
/// linear-phase filter (``LowPass``) takes out 8–16 kHz. A rate that is a multiple of 16 kHz, as 48 kHz is, needs that
/// filter alone. The table that the resampler's tests print has the figures.
public struct Resampler: ~Copyable {
    /// Which converter runs, and so the price and the exactness.
    public enum Quality: Sendable, CaseIterable {
        /// The default: ripple < 0.1 dB up to 7 kHz (or 0.9 of half the input rate, where that is less), ≥ 90 dB of
        /// rejection from 8 kHz on. A low-pass, after `SINC_FASTEST` to 32 kHz where the rate is no multiple of 16 kHz;
        /// below 20 kHz, where the edge of that converter would fall into the band, `SINC_BEST_QUALITY`.
        case standard
        /// `SINC_BEST_QUALITY` straight to 16 kHz: rejection ≥ 120 dB, flat up to 7.7 kHz, at over
        /// three times the price.
        case best
    }

    /// What one call did, in samples.
    public struct Progress: Equatable, Sendable {
        /// Input samples taken; pass the others again.
        public var consumed = 0
        /// Output samples written.
        public var produced = 0
    }

    public static let inputRates = 8_000...192_000

    /// From here on `SINC_FASTEST`, which keeps some 0.7 of its band, keeps 7 kHz.
    private static let leastFilteredRate = 20_000

    public let inputRate: Int
    private let converter: Converter
    private var lowPass: LowPass?
    private let silence = [Float](repeating: 0, count: 256)
    private var consumed = 0
    private var produced = 0

    /// - Throws: ``AudioError/converter`` for a rate outside ``inputRates`` or when libsamplerate has no memory.
    public init(from inputRate: Int, quality: Quality = .standard) throws(AudioError) {
        guard Resampler.inputRates.contains(inputRate) else {
            throw .converter.saying(
                "cannot resample from \(inputRate) Hz; rates from \(Resampler.inputRates.lowerBound) to "
                    + "\(Resampler.inputRates.upperBound) Hz are accepted, convert the audio first"
            )
        }
        let filtered = quality == .standard && inputRate >= Resampler.leastFilteredRate
        let kind = filtered ? SRC_SINC_FASTEST : SRC_SINC_BEST_QUALITY
        let isMultiple = inputRate % AudioFormat.sampleRate == 0
        let rate = !filtered ? AudioFormat.sampleRate : isMultiple ? inputRate : 2 * AudioFormat.sampleRate
        converter = try Converter(kind: kind, from: inputRate, to: rate)
        lowPass = filtered ? LowPass(from: rate) : nil
        self.inputRate = inputRate
    }

    /// Forgets all audio so far; the next sample is the first one.
    public mutating func reset() throws(AudioError) {
        try converter.reset()
        lowPass?.reset()
        consumed = 0
        produced = 0
    }

    /// The number of output samples for a number of input samples.
    public static func outputLength(of frames: Int, at rate: Int) -> Int {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: rate)
        return seconds * AudioFormat.sampleRate + (rest * AudioFormat.sampleRate + rate - 1) / rate
    }

    /// Takes input and gives output until one of the two runs out.
    ///
    /// - Parameters:
    ///   - input: Mono samples at ``inputRate``.
    ///   - output: Room for samples at 16 kHz.
    ///   - endOfInput: No input follows. Call again, with empty input once all is taken, until nothing
    ///     is produced any more; then ``reset()`` before other audio.
    /// - Throws: ``AudioError/converter`` with libsamplerate's text.
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
                // Silence pushes the last samples out of the filters, and the exact length says when to stop.
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
        guard lowPass != nil else { return try converter.run(input, output) }
        var progress = Progress()
        // Output that is already there goes first, so that the filter's line never overflows.
        progress.produced = lowPass?.drain(into: output) ?? 0
        if progress.produced == 0 {
            progress.consumed = try lowPass?.take(from: converter, input) ?? 0
            progress.produced = lowPass?.drain(into: output) ?? 0
        }
        return progress
    }
}
