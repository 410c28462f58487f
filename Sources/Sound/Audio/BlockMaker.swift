import Core
public import Echo

/// Resamples mono audio to 16 kHz, cuts it into blocks of 1600 samples, and removes an echo from them. Nothing allocates after `init`.
public struct BlockMaker: ~Copyable {
    /// Samples at 16 kHz so far, and how many of them are in no complete block yet.
    public private(set) var samples = 0
    public private(set) var filled = 0

    private var resampler: Resampler
    private var canceller: EchoStage
    private var block = [Float](repeating: 0, count: AudioFormat.hopSamples)

    /// - Parameters:
    ///   - rate: of the audio and of the reference, in hertz.
    ///   - echo: of which only the filter's length counts here; nil to remove no echo.
    /// - Throws: ``AudioError/converter``, ``AudioError/library``.
    public init(from rate: Int, quality: Resampler.Quality = .standard, echo: EchoSettings?) throws(AudioError) {
        let resampler = try Resampler(from: rate, quality: quality)
        self.init(resampler, try EchoStage(echo, rate: rate, quality: quality))
    }

    private init(_ resampler: consuming Resampler, _ canceller: consuming EchoStage) {
        self.resampler = resampler
        self.canceller = canceller
    }

    /// Takes the reference of the samples that are added next, at the same rate.
    ///
    /// - Throws: ``AudioError/converter``.
    public mutating func add(reference: Span<Float>) throws(AudioError) { try canceller.add(reference: reference) }

    /// Takes the next samples.
    ///
    /// - Parameter put: gets each complete block, and ``samples`` up to its end.
    /// - Throws: ``AudioError/converter``.
    public mutating func add(_ mono: Span<Float>, _ put: (Span<Float>, Int) -> Void) throws(AudioError) {
        try add(mono, isEnd: false, put)
    }

    /// Ends the audio: gives what the filters hold, and the last block, filled up with zeros. Call ``reset()`` before other audio.
    public mutating func finish(_ put: (Span<Float>, Int) -> Void) throws(AudioError) {
        try add([Float]().span, isEnd: true, put)
        guard filled > 0 else { return }
        for index in filled..<block.count { block[index] = 0 }
        filled = 0
        var last: [Float] = []
        swap(&last, &block)
        defer { swap(&last, &block) }
        removeEcho(&last)
        put(last.span, samples)
    }

    private mutating func removeEcho(_ block: inout [Float]) {
        var samples = block.mutableSpan
        canceller.cancel(in: &samples)
    }

    private mutating func add(
        _ mono: Span<Float>,
        isEnd: Bool,
        _ put: (Span<Float>, Int) -> Void
    ) throws(AudioError) {
        // A span of a property would borrow all of `self`.
        var block: [Float] = []
        swap(&block, &self.block)
        defer { swap(&block, &self.block) }
        var used = 0
        while true {
            var room = block.mutableSpan
            var rest = room.extracting(filled..<AudioFormat.hopSamples)
            let progress = try resampler.process(mono.extracting(used..<mono.count), into: &rest, endOfInput: isEnd)
            used += progress.consumed
            filled += progress.produced
            samples += progress.produced
            if filled == AudioFormat.hopSamples {
                filled = 0
                removeEcho(&block)
                put(block.span, samples)
            } else if progress.produced == 0, isEnd || used == mono.count || progress.consumed == 0 {
                return
            }
        }
    }

    /// Discards all audio so far, including an incomplete block.
    public mutating func reset() throws(AudioError) {
        try resampler.reset()
        try canceller.reset()
        (filled, samples) = (0, 0)
    }
}
