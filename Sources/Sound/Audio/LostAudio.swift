public import Core
import Synchronization

/// All audio that was lost between a device and the detector: why, and how much of it, in nanoseconds.
///
/// Whoever loses audio notes it here when it happens, on any thread, without waiting; it is counted nowhere else. Status, metrics,
/// warnings and reports read it.
public final class LostAudio: Sendable {
    /// Why audio was lost, by the place, from the device on.
    public enum Cause: UInt8, Sendable, CaseIterable, BitwiseCopyable {
        /// At the device: the reader was late.
        case overrun
        case suspended
        /// Frames never came, and the device reported no error.
        case missing
        /// The device was unplugged, could not be opened, or delivered nothing.
        case device
        case muted
        /// Another device or other channels were selected.
        case selection
        /// Audio was read, but a gap came before its block was complete.
        case incomplete
        /// In the ring: blocks that were given up unread after a gap; see ``BlockRing/flush()``.
        case stale
        /// At the detector: blocks that were too old when it came to them.
        case late
        /// In the ring: blocks that found no room, because the detector was late.
        case ringFull
        /// The part of ``late`` and ``ringFull`` that new settings cost.
        case settings
        /// The detector got it, and the recording did not: the disk was too slow.
        case recording

        /// What did not reach the detector; each sample has one of these causes.
        public static let beforeDetector = allCases.filter { $0 != .settings && $0 != .recording }
    }

    private let sums: InlineArray<12, Atomic<Int64>> = InlineArray { _ in Atomic(0) }
    private let openCause = Atomic<UInt8>(.max)
    private let openSince = Atomic<Int64>(0)

    public init() {}

    /// Notes lost audio. Negative, where it was noted too long.
    public func note(_ cause: Cause, _ duration: Duration) {
        sums[Int(cause.rawValue)].wrappingAdd(duration.nanoseconds, ordering: .relaxed)
    }

    public func note(_ cause: Cause, blocks: UInt64) {
        if blocks > 0 { note(cause, AudioFormat.hopDuration * Int(clamping: blocks)) }
    }

    /// Sets the cause by which audio is being lost, and since when, on the monotonic clock; nil for none. One thread.
    public func setOpen(_ cause: Cause?, since: Instant) {
        openSince.store(since.nanoseconds, ordering: .relaxed)
        openCause.store(cause?.rawValue ?? .max, ordering: .releasing)
    }

    /// What was lost by a cause, without a gap that has not ended.
    public subscript(cause: Cause) -> Duration {
        .nanoseconds(sums[Int(cause.rawValue)].load(ordering: .relaxed))
    }

    /// The same in whole blocks.
    public func blocks(_ cause: Cause) -> UInt64 {
        UInt64(clamping: self[cause].nanoseconds / AudioFormat.hopDuration.nanoseconds)
    }

    /// What did not reach the detector, with the gap that has not ended; and whether there is one.
    public func beforeDetector(at now: Instant) -> (lost: [Cause: Duration], isLosing: Bool) {
        let open = Cause(rawValue: openCause.load(ordering: .acquiring))
        let since = Instant(nanoseconds: openSince.load(ordering: .relaxed))
        let pairs = Cause.beforeDetector.map { ($0, self[$0] + ($0 == open ? max(.zero, now - since) : .zero)) }
        return (Dictionary(uniqueKeysWithValues: pairs), open != nil)
    }
}
