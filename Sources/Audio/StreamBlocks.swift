public import Core

/// Audio that arrives as bytes, in parts of any size, as mono blocks at 16 kHz: reads the header, mixes and resamples.
public struct StreamBlocks: ~Copyable {
    /// What is known of the format; nil before the header is complete.
    public private(set) var format: RawFormat?
    /// Samples at 16 kHz so far.
    public private(set) var samples = 0

    private let mix: ChannelMix
    private var resampler: Resampler?
    private var decoder: PCMDecoder?
    /// Bytes of a header that is not complete.
    private var waiting: [UInt8] = []
    /// Bytes of audio still to come by the header; nil if it does not say.
    private var rest: Int?
    private var block = [Float](repeating: 0, count: AudioFormat.hopSamples)
    private var filled = 0
    /// Mono samples at the rate of the audio.
    private var mono = [Float](repeating: 0, count: 2048)
    private var frames = 0

    /// - Parameter raw: the format of audio without a header; nil for WAV.
    /// - Throws: ``AudioError/noSuchChannel`` or ``AudioError/converter``.
    public init(raw: RawFormat?, mix: ChannelMix) throws(AudioError) {
        self.init(mix)
        if let raw { try begin(raw) }
    }

    /// Before the header. Swift 6.2 calls mutating methods only after another `init`.
    private init(_ mix: ChannelMix) { self.mix = mix }

    /// Whether the audio that the header declares is complete; what comes after it is not audio.
    public var isComplete: Bool { rest == 0 }

    /// Seconds of audio that the header promised and that have not come; nil if it promised none.
    public var missingSeconds: Double? {
        guard let rest, let format else { return nil }
        return Double(rest) / Double(format.frameBytes * format.rate)
    }

    /// Takes the next bytes.
    ///
    /// - Parameter put: gets each complete block of 1600 samples.
    /// - Throws: ``AudioError`` for a wrong header, or a sample that is no usable number.
    public mutating func take(_ bytes: ArraySlice<UInt8>, _ put: (Span<Float>) -> Void) throws(AudioError) {
        guard format == nil else { return try decode(bytes, put) }
        waiting += bytes
        guard let header = try WaveHeader.read(waiting) else { return }
        try begin(header.format)
        rest = header.dataBytes
        let audio = waiting.dropFirst(header.bytes)
        waiting = []
        try decode(audio, put)
    }

    private mutating func decode(_ bytes: ArraySlice<UInt8>, _ put: (Span<Float>) -> Void) throws(AudioError) {
        guard let format else { return }
        // A span of a property would borrow all of `self`.
        var samples: [Float] = []
        swap(&samples, &mono)
        defer { swap(&samples, &mono) }
        var bytes = bytes.prefix(rest ?? .max)
        while true {
            var room = samples.mutableSpan
            guard let progress = decoder?.decode(bytes.span, into: &room) else { return }
            bytes = bytes.dropFirst(progress.bytes)
            frames += progress.frames
            if let rest { self.rest = rest - progress.bytes }
            try resample(samples.span.extracting(first: progress.frames), isEnd: false, put)
            guard !progress.isUnusable else {
                let seconds = decimal(Double(frames) / Double(format.rate), 3)
                throw .notFinite.saying(
                    "the audio on standard input holds a sample that is no usable number at \(seconds) s; is its format right?"
                )
            }
            guard progress.bytes > 0 else { return }
        }
    }

    /// Ends the audio: gives the last block, filled up with zeros.
    ///
    /// - Throws: ``AudioError/emptyFile`` or ``AudioError/notAudio`` if not even a header came.
    public mutating func finish(_ put: (Span<Float>) -> Void) throws(AudioError) {
        guard format != nil else {
            guard !waiting.isEmpty else {
                throw .emptyFile.saying("standard input is empty; pipe audio into beckon, or name a file with --file")
            }
            throw .notAudio.saying("the audio on standard input ends within its header; send it whole")
        }
        try resample([Float]().span, isEnd: true, put)
        guard filled > 0 else { return }
        var last = block
        for index in filled..<last.count { last[index] = 0 }
        filled = 0
        put(last.span)
    }

    private mutating func begin(_ format: RawFormat) throws(AudioError) {
        try mix.checkMixed(channels: format.channels, of: "the audio on standard input")
        resampler = try Resampler(from: format.rate)
        decoder = PCMDecoder(format.sample, channels: format.channels, mix: mix)
        self.format = format
    }

    private mutating func resample(
        _ mono: Span<Float>,
        isEnd: Bool,
        _ put: (Span<Float>) -> Void
    ) throws(AudioError) {
        guard var resampler = resampler.take() else { return }
        // A span of a property would borrow all of `self`.
        var block: [Float] = []
        swap(&block, &self.block)
        defer { swap(&block, &self.block) }
        var used = 0
        var problem: AudioError?
        while true {
            var room = block.mutableSpan
            var rest = room.extracting(filled..<AudioFormat.hopSamples)
            let progress: Resampler.Progress
            do throws(AudioError) {
                progress = try resampler.process(mono.extracting(used..<mono.count), into: &rest, endOfInput: isEnd)
            } catch {
                problem = error
                break
            }
            used += progress.consumed
            filled += progress.produced
            samples += progress.produced
            if filled == AudioFormat.hopSamples {
                filled = 0
                put(block.span)
            } else if progress.produced == 0, isEnd || used == mono.count || progress.consumed == 0 {
                break
            }
        }
        self.resampler = consume resampler
        if let problem { throw problem }
    }
}
