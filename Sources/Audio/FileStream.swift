public import Core

/// A file as the windows that a detector takes: decoder, ring, and a second of silence after the end, so that the last
/// word is decided too.
public struct FileStream: ~Copyable {
    /// Audio of the file so far, in seconds, without the silence after it.
    public var seconds: Double { Double(samples) / Double(AudioFormat.sampleRate) }
    /// Length that the file's header promises, in seconds; 0 where it promises none.
    public let expectedSeconds: Double

    /// Holds the window, for a caller that reads it after ``advance(time:)``.
    public let ring: BlockRing

    private var blocks: FileBlocks
    private var block = [Float](repeating: 0, count: AudioFormat.hopSamples)
    private var samples = 0
    private var ended = false
    private var quietHops = 0

    /// - Throws: What ``FileBlocks/init(path:mix:quality:)`` throws.
    public init(path: String, mix: ChannelMix) throws(AudioError) {
        let blocks = try FileBlocks(path: path, mix: mix)
        // Writer and reader take turns here, so there is never more than one block unread.
        let ring = try BlockRing(minimumCapacity: 1)
        expectedSeconds = Double(blocks.expectedSamples ?? 0) / Double(AudioFormat.sampleRate)
        self.blocks = blocks
        self.ring = ring
    }

    /// Shows the next window of 16000 samples, one block of 1600 on; false when there are no more.
    public mutating func next(_ body: (Span<Float>) -> Void) throws(AudioError) -> Bool {
        try advance() && ring.withWindow { window, _ in body(window) }
    }

    /// Moves the window one block on; false when there are no more.
    ///
    /// - Parameter time: When the block's last sample was captured, on the caller's clock.
    /// - Throws: What reading the file throws, once; the silence after the end can still be read then.
    public mutating func advance(time: Instant = Instant(nanoseconds: 0)) throws(AudioError) -> Bool {
        // A span of a property would hold all of `self`.
        var block: [Float] = []
        swap(&block, &self.block)
        defer { swap(&block, &self.block) }
        if !ended {
            var span = block.mutableSpan
            // Whether it ends well or with an error, it has ended.
            ended = true
            if let count = try blocks.next(into: &span) {
                ended = false
                samples += count
            } else {
                for index in block.indices { block[index] = 0 }
            }
        }
        if ended {
            guard quietHops < AudioFormat.windowHops else { return false }
            quietHops += 1
        }
        ring.write(block.span, time: time)
        return true
    }
}
