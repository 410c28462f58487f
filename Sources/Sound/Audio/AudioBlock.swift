public import Core

/// The metadata of a block: 100 ms of audio (1600 samples) on its way from a microphone or a file to the detector.
///
/// ``BlockRing`` creates it when the consumer reads; only there it is decided whether the audio is continuous. The
/// samples come separately, as a window that ends with this block.
public struct AudioBlock: Equatable, Sendable {
    /// Number of the block, from 0; blocks that were dropped or flushed count too.
    public var sequence: UInt64
    /// When its last sample was captured, on the producer's clock.
    public var time: Instant
    /// Blocks at the end of the window without a gap between them, 1–10; the window before them is zero.
    public var filled: Int
    /// Whether the block follows the block read before without a gap. If not, a consumer must reset what it keeps of
    /// earlier audio. False for the first block.
    public var continues: Bool
    /// Blocks that found no room in the ring since the block read before. Stale blocks do not count: their audio was
    /// given up, see ``BlockRing/flush()``.
    public var missed: UInt64 = 0
}
