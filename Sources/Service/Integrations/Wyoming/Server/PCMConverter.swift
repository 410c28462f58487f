import Audio
import Core

/// How a client's audio is coded: whole numbers with a sign, little-endian, channels interleaved.
struct PCMFormat: Equatable {
    let rate: Int
    /// Bytes of a sample, 1–4.
    let width: Int
    let channels: Int

    /// The audio that needs no conversion, and that Home Assistant sends.
    static let usual = PCMFormat(rate: AudioFormat.sampleRate, width: 2, channels: 1)

    var layout: SampleLayout {
        switch width {
        case 1: .s8
        case 2: .s16
        case 3: .s24
        default: .s32
        }
    }

    private init(rate: Int, width: Int, channels: Int) {
        self.rate = rate
        self.width = width
        self.channels = channels
    }

    /// The format of an event; keys that it lacks are those of `other`. Nil outside the limits.
    init?(_ event: WyomingEvent, else other: PCMFormat) {
        let rate = event.rate ?? other.rate
        let width = event.width ?? other.width
        let channels = event.channels ?? other.channels
        guard Resampler.inputRates.contains(rate), (1...4).contains(width), (1...64).contains(channels) else {
            return nil
        }
        self.init(rate: rate, width: width, channels: channels)
    }

    static let limits =
        "audio has \(Resampler.inputRates.lowerBound) to \(Resampler.inputRates.upperBound) samples a second, "
        + "1 to 4 bytes a sample and 1 to 64 channels"
}

/// Converts a client's audio, in pieces of any size, to mono at 16 kHz.
///
/// A filter for another rate is made when the first sample of that rate comes, and replaces the one before: only that allocates.
struct PCMConverter: ~Copyable {
    private(set) var format = PCMFormat.usual
    /// Nil at 16 kHz, and where ``needsFilter``.
    private var resampler: Resampler?
    /// Whether the next sample needs a filter that is to be made. It may take some milliseconds, and the memory of ``Resampler``.
    private(set) var needsFilter = false
    private var decoder = PCMDecoder(.s16, channels: 1, mix: .mix)
    /// Mono samples for the resampler; those of `used..<filled` it has not taken yet.
    private var mono = [Float](repeating: 0, count: 256)
    private var used = 0
    private var filled = 0
    /// Frames of the audio so far.
    private(set) var frames = 0
    /// The rates that filters were made for.
    private var rates: [Int] = []

    /// Most rates in one connection: a client has one, or that of each of its sources.
    static let mostRates = 4

    static let tooManyRates =
        "a connection has audio of at most \(mostRates) rates besides \(AudioFormat.sampleRate) Hz; "
        + "connect again for another"

    init() {}

    /// Whether the connection may still have audio of this rate.
    func accepts(_ format: PCMFormat) -> Bool {
        format.rate == AudioFormat.sampleRate || rates.contains(format.rate) || rates.count < Self.mostRates
    }

    /// Begins audio of a format, and forgets what is left of the audio before.
    ///
    /// - Parameter format: one that ``accepts(_:)``.
    mutating func begin(_ format: PCMFormat) throws(AudioError) {
        if format != self.format {
            decoder = PCMDecoder(format.layout, channels: format.channels, mix: .mix, rate: format.rate)
        }
        decoder.reset()
        frames = 0
        (used, filled) = (0, 0)
        let isResampled = format.rate != AudioFormat.sampleRate
        if resampler?.inputRate != format.rate {
            resampler = nil
            needsFilter = isResampled
        } else {
            try resampler?.reset()
        }
        self.format = format
    }

    /// Makes the filter that is needed.
    private mutating func makeFilter() throws(AudioError) {
        needsFilter = false
        resampler = try Resampler(from: format.rate, quality: .shared)
        if !rates.contains(format.rate) { rates.append(format.rate) }
    }

    /// Converts until the bytes are used up or the room is full. An incomplete frame waits for the rest of it, which the next bytes
    /// begin with: pieces may end anywhere.
    ///
    /// - Parameter room: gets samples at 16 kHz.
    /// - Returns: the bytes used and the samples written. Where the room is full, call again with more room, even without bytes.
    mutating func convert(
        _ bytes: UnsafeBufferPointer<UInt8>,
        into room: UnsafeMutableBufferPointer<Float>
    ) throws(AudioError) -> (used: Int, written: Int) {
        var (taken, written) = (0, 0)
        if needsFilter, !bytes.isEmpty { try makeFilter() }
        guard resampler != nil else {
            var samples = room.mutableSpan
            let progress = decoder.decode(bytes.span, into: &samples)
            frames += progress.frames
            return (progress.bytes, progress.frames)
        }
        while written < room.count {
            let rest = UnsafeMutableBufferPointer(rebasing: room[written...])
            guard let made = try Self.resample(&resampler, mono, used..<filled, into: rest) else { break }
            used += made.consumed
            written += made.produced
            if made.consumed > 0 || made.produced > 0 { continue }
            let progress = Self.decode(&decoder, UnsafeBufferPointer(rebasing: bytes[taken...]), into: &mono)
            taken += progress.bytes
            frames += progress.frames
            (used, filled) = (0, progress.frames)
            if filled == 0 { break }
        }
        return (taken, written)
    }

    /// What is corrected in the mix of the channels.
    var faults: ChannelFaults { decoder.faults }

    /// Frames of the audio so far, with those that are kept back until it is told how they are to be read.
    var framesTaken: Int { frames + decoder.keptBack }

    /// A line that is due on how samples are read; each once.
    mutating func warning() -> String? { decoder.warning("audio of a Wyoming client") }

    /// Writes the samples that are kept back, and that the filters still hold, at the end of the audio; 0 when there are no more. Then
    /// ``begin(_:)``.
    mutating func drain(into room: UnsafeMutableBufferPointer<Float>) throws(AudioError) -> Int {
        decoder.finish()
        // Not once the filters have been told the end: they would be told it again.
        if used < filled || decoder.keptBack > 0 {
            let written = try convert(UnsafeBufferPointer(start: nil, count: 0), into: room).written
            if written > 0 { return written }
        }
        return try Self.resample(&resampler, [], 0..<0, into: room, endOfInput: true)?.produced ?? 0
    }

    // Not methods, because a span of one property would keep all of them.

    private static func decode(
        _ decoder: inout PCMDecoder,
        _ bytes: UnsafeBufferPointer<UInt8>,
        into room: inout [Float]
    ) -> PCMDecoder.Progress {
        var samples = room.mutableSpan
        return decoder.decode(bytes.span, into: &samples)
    }

    private static func resample(
        _ resampler: inout Resampler?,
        _ mono: [Float],
        _ range: Range<Int>,
        into room: UnsafeMutableBufferPointer<Float>,
        endOfInput: Bool = false
    ) throws(AudioError) -> Resampler.Progress? {
        var samples = room.mutableSpan
        return try resampler?.process(mono.span.extracting(range), into: &samples, endOfInput: endOfInput)
    }
}
