public import Core

/// What is known of a block: 100 ms of audio (1600 samples) on its way from a microphone or a file to a listener.
///
/// ``BlockRing`` makes it as the consumer reads, and decides there, once, whether the audio continues. The samples come
/// beside it, as a window that ends with this block.
public struct AudioBlock: Equatable, Sendable {
    /// Number of the block, from 0; blocks that were dropped or flushed count too.
    public var sequence: UInt64
    /// When the last sample was captured, on the producer's clock.
    public var time: Instant
    /// Blocks at the end of the window that follow each other without a gap, 1–10; the window is zero before them.
    public var filled: Int
    /// Whether the block follows the one read before it without a gap. If not, a consumer with a memory of earlier audio
    /// must forget it. False for the first block.
    public var continues: Bool
    /// Blocks between the one read before and this one that were never read; 0 for the first block.
    public var missed: UInt64

    public init(sequence: UInt64, time: Instant, filled: Int, continues: Bool, missed: UInt64 = 0) {
        self.sequence = sequence
        self.time = time
        self.filled = filled
        self.continues = continues
        self.missed = missed
    }
}
