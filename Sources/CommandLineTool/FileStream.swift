import Audio

/// A file as the windows that a detector hears: decoder, ring, and a second of quiet after the end, in which what was
/// said last is decided.
struct FileStream: ~Copyable {
    /// Audio of the file so far, in seconds; the quiet after it does not count.
    var seconds: Double { Double(samples) / Double(FileBlocks.sampleRate) }
    /// Length that the file's header promises, in seconds; 0 where it promises none.
    let expectedSeconds: Double

    private var blocks: FileBlocks
    private let ring: BlockRing
    private var block = [Float](repeating: 0, count: BlockRing.blockLength)
    private var samples = 0
    private var ended = false
    private var quietHops = 0

    init(path: String, mix: ChannelMix) throws(AudioError) {
        let blocks = try FileBlocks(path: path, mix: mix)
        // Writer and reader take turns here, so there is never more than one block unread.
        let ring = try BlockRing(minimumCapacity: 1)
        expectedSeconds = Double(blocks.expectedSamples ?? 0) / Double(FileBlocks.sampleRate)
        self.blocks = blocks
        self.ring = ring
    }

    /// Shows the next window of 16000 samples, one block of 1600 on; false when there are no more.
    mutating func next(_ body: (Span<Float>) -> Void) throws(AudioError) -> Bool {
        // A span of a property would hold all of `self`.
        var block: [Float] = []
        swap(&block, &self.block)
        defer { swap(&block, &self.block) }
        if !ended {
            var span = block.mutableSpan
            if let count = try blocks.next(into: &span) {
                samples += count
            } else {
                ended = true
                for index in block.indices { block[index] = 0 }
            }
        }
        if ended {
            guard quietHops < BlockRing.windowBlocks else { return false }
            quietHops += 1
        }
        ring.write(block.span, time: 0)
        return ring.withWindow { window, _ in body(window) }
    }
}
