public import Core

/// A file as the detector's blocks: mono at 16 kHz, and a second of silence after the end, so that the last word is decided
/// too.
public struct FileStream: ~Copyable {
    /// Audio of the file read so far, in seconds, without the silence after it.
    public var seconds: Double { Double(samples) / Double(AudioFormat.sampleRate) }
    /// Length that the file's header declares, in seconds; 0 if it declares none.
    public let expectedSeconds: Double

    /// Whether an echo is removed from it.
    let hasReference: Bool
    private var blocks: FileBlocks
    private var samples = 0
    private var ended = false
    private var closing = ClosingSilence()

    /// - Throws: The errors of ``FileBlocks/init(path:mix:quality:)``.
    public init(path: String, mix: ChannelMix) throws(AudioError) {
        let blocks = try FileBlocks(path: path, mix: mix)
        expectedSeconds = Double(blocks.expectedSamples ?? 0) / Double(AudioFormat.sampleRate)
        hasReference = mix.echo != nil
        self.blocks = blocks
    }

    /// What was played during the newest block, in time with its echo; empty in the silence at the end, and where no echo is removed.
    var played: Span<Float> { blocks.played.extracting(first: ended ? 0 : .max) }

    /// Fills the next block of 1600 samples; false at the end.
    ///
    /// - Throws: An error of reading the file, once; after it the silence at the end can still be read.
    public mutating func next(into block: inout MutableSpan<Float>) throws(AudioError) -> Bool {
        if !ended {
            // Set first, so that it also holds if reading throws.
            ended = true
            if let count = try blocks.next(into: &block) {
                ended = false
                samples += count
                return true
            }
        }
        return closing.next(into: &block)
    }
}

/// A file as the detector's windows: a ``FileStream`` and a ring.
public struct FileWindows: ~Copyable {
    /// Holds the window, for a caller that reads it after ``advance(time:)``.
    public let ring: BlockRing

    public private(set) var stream: FileStream
    private var block = [Float](repeating: 0, count: AudioFormat.hopSamples)

    /// - Throws: ``AudioError/memory``.
    public init(_ stream: consuming FileStream) throws(AudioError) {
        // Writes and reads alternate here, so there is never more than one unread block.
        let ring = try BlockRing(minimumCapacity: 1, keepsPlayed: stream.hasReference)
        self.init(stream, ring)
    }

    /// See ``AudioFile`` for why there are two.
    private init(_ stream: consuming FileStream, _ ring: BlockRing) {
        self.ring = ring
        self.stream = stream
    }

    /// Passes the next window of 16000 samples, 1600 later than the last; false at the end.
    public mutating func next(_ body: (Span<Float>) -> Void) throws(AudioError) -> Bool {
        try advance() && ring.withWindow { window, _ in body(window) }
    }

    /// Moves the window by one block; false at the end.
    ///
    /// - Parameter time: When the block's last sample was captured, on the caller's clock.
    /// - Throws: As ``FileStream/next(into:)``.
    public mutating func advance(time: Instant = Instant(nanoseconds: 0)) throws(AudioError) -> Bool {
        // A span of a property would borrow all of `self`.
        var block: [Float] = []
        swap(&block, &self.block)
        defer { swap(&block, &self.block) }
        var span = block.mutableSpan
        guard try stream.next(into: &span) else { return false }
        ring.write(block.span, time: time, played: stream.played)
        return true
    }
}
