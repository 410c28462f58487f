public import Core
public import Echo

/// Resamples mono audio to 16 kHz, cuts it into blocks, and removes an echo from them. Nothing allocates after `init`.
public struct BlockMaker: ~Copyable {
    /// Samples at 16 kHz so far, and how many of them are in no complete block yet.
    public private(set) var samples = 0
    public private(set) var filled = 0

    private var resampler: Resampler
    private var canceller: EchoStage
    private var block: [Float]

    /// - Parameters:
    ///   - rate: of the audio and of the reference, in hertz.
    ///   - echo: of which only the filter's length, and whether it is a channel, count here; nil to remove no echo.
    ///   - length: samples of a block.
    /// - Throws: ``AudioError/converter``, ``AudioError/library``.
    public init(
        from rate: Int,
        quality: Resampler.Quality = .standard,
        echo: EchoSettings?,
        length: Int = AudioFormat.hopSamples
    ) throws(AudioError) {
        let resampler = try Resampler(from: rate, quality: quality)
        self.init(resampler, try EchoStage(echo, rate: rate, quality: quality), length)
    }

    private init(_ resampler: consuming Resampler, _ canceller: consuming EchoStage, _ length: Int) {
        self.resampler = resampler
        self.canceller = canceller
        block = [Float](repeating: 0, count: length)
    }

    /// Takes the reference of the samples that are added next, at the same rate.
    ///
    /// - Throws: ``AudioError/converter``.
    public mutating func add(reference: Span<Float>) throws(AudioError) { try canceller.add(reference: reference) }

    /// Takes the next of what a device of its own plays, at 16 kHz; `continues` is false where some is missing before it.
    public mutating func add(piece: Span<Float>, continues: Bool) { canceller.add(piece: piece, continues: continues) }

    /// Whether it is known which sample of a device's reference belongs to the block that is being filled.
    public var isAligned: Bool { canceller.isAligned }

    /// Tells it: by how many samples at 16 kHz the newest one of the reference is later than the first one of that block, and than the
    /// newest one that is added with it.
    public mutating func align(first: Double, newest: Double) { canceller.align(first: first, newest: newest) }

    /// How many decibels of the echo are removed; nil where nothing is played.
    public var reduction: Float? { canceller.reduction }

    /// Takes the next samples.
    ///
    /// - Parameter put: gets each complete block; what was played during it, in time with its echo, or nothing where no echo is removed; and
    ///   ``samples`` up to its end.
    /// - Throws: ``AudioError/converter``.
    public mutating func add(_ mono: Span<Float>, _ put: (Span<Float>, Span<Float>, Int) -> Void) throws(AudioError) {
        try add(mono, isEnd: false, put)
    }

    /// Ends the audio: gives what the filters hold, and the last block, filled up with zeros. Call ``reset()`` before other audio.
    public mutating func finish(_ put: (Span<Float>, Span<Float>, Int) -> Void) throws(AudioError) {
        try add([Float]().span, isEnd: true, put)
        guard filled > 0 else { return }
        for index in filled..<block.count { block[index] = 0 }
        filled = 0
        var last: [Float] = []
        swap(&last, &block)
        defer { swap(&last, &block) }
        removeEcho(&last)
        put(last.span, canceller.played, samples)
    }

    private mutating func removeEcho(_ block: inout [Float]) {
        var samples = block.mutableSpan
        canceller.cancel(in: &samples)
    }

    private mutating func add(
        _ mono: Span<Float>,
        isEnd: Bool,
        _ put: (Span<Float>, Span<Float>, Int) -> Void
    ) throws(AudioError) {
        // A span of a property would borrow all of `self`.
        var block: [Float] = []
        swap(&block, &self.block)
        defer { swap(&block, &self.block) }
        let length = block.count
        var used = 0
        while true {
            var room = block.mutableSpan
            var rest = room.extracting(filled..<length)
            let progress = try resampler.process(mono.extracting(used..<mono.count), into: &rest, endOfInput: isEnd)
            used += progress.consumed
            filled += progress.produced
            samples += progress.produced
            if filled == length {
                filled = 0
                removeEcho(&block)
                put(block.span, canceller.played, samples)
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
