import Audio
public import Core
import Synchronization
import System

/// The state of a microphone now, and counters since the start.
public struct CaptureStatus: Equatable, Sendable {
    public var state: CaptureMachine.State
    /// When this state began, on ``Clock``. ``CaptureMachine/State/recovering`` counts as running.
    public var since: Instant
    /// ALSA's name of the device last opened or tried; empty before the first.
    public var device: String
    /// Why the last failed attempt to open a device failed, as one line; empty if none failed.
    public var problem: String
    /// The format in which a device was last opened; nil before the first.
    public var format: StreamFormat?
    /// Whether the thread has real-time priority.
    public var isRealTime: Bool
    /// Whether the thread's memory is locked, so that it is not swapped out.
    public var isMemoryLocked: Bool
    public var counts: CaptureMachine.Counts
    /// Frames read from devices.
    public var frames: UInt64
    /// Their length.
    public var read: Duration
    /// The time from the first frame to the newest one or, while audio is being lost, until now.
    public var elapsed: Duration
    /// Audio that was lost since the first frame, by the cause.
    public var lost: [LossCause: Duration]
    /// Blocks made of the frames.
    public var blocks: UInt64
    /// Blocks dropped because the ring was full: the reader was late.
    public var droppedBlocks: UInt64
    /// Blocks that were given up unread after a gap; see ``BlockRing/flush()``.
    public var staleBlocks: UInt64
    /// Blocks in the ring that are not read yet.
    public var unreadBlocks: UInt64
    /// Changes dropped because their queue was full.
    public var droppedChanges: UInt64
    /// Largest absolute sample of the last block; full scale is 1.
    public var peak: Float
    /// Root mean square of the last block; full scale is 1.
    public var level: Float
    /// When the last block's last sample was captured, on ``Clock``; nil before the first block.
    public var lastBlock: Instant?
    /// Since when all samples have been exactly zero; nil while there is sound.
    public var zeroSince: Instant?
    /// Whether the channels cancel each other in the mix; see ``ChannelCancellation``.
    public var channelsCancel = false
    /// Whether the device was given up because it has no clock.
    public var isTooFast = false
}

/// The values of a ``CaptureStatus``, written by the capture thread and read by any thread.
///
/// Each number is atomic by itself; together they may be from different moments. Only the texts need a lock, which the
/// capture thread takes while it opens a device, never while it captures.
final class CaptureRecord: Sendable {
    private let state = Atomic<UInt8>(CaptureMachine.State.waiting.rawValue)
    private let since = Atomic<Int64>(Clock.now.nanoseconds)
    private let rate = Atomic<Int>(0)
    private let channels = Atomic<Int>(0)
    private let sample = Atomic<UInt8>(0)
    private let period = Atomic<Int>(0)
    private let buffer = Atomic<Int>(0)
    private let realTime = Atomic<Bool>(false)
    private let locked = Atomic<Bool>(false)
    private let gaps = Atomic<UInt64>(0)
    private let overruns = Atomic<UInt64>(0)
    private let suspensions = Atomic<UInt64>(0)
    private let stalls = Atomic<UInt64>(0)
    private let missing = Atomic<UInt64>(0)
    private let losses = Atomic<UInt64>(0)
    private let reconnects = Atomic<UInt64>(0)
    private let frames = Atomic<UInt64>(0)
    private let blocks = Atomic<UInt64>(0)
    private let read = Atomic<Int64>(0)
    private let firstFrame = Atomic<Int64>(0)
    private let newestFrame = Atomic<Int64>(0)
    private let lost = LossTimes()
    private let peak = Atomic<UInt32>(0)
    private let level = Atomic<UInt32>(0)
    private let lastBlock = Atomic<Int64>(0)
    private let zeroSince = Atomic<Int64>(CaptureRecord.never)
    private let cancelling = Atomic<Int>(0)
    private let tooFast = Atomic<Bool>(false)
    private let texts = Mutex((device: "", problem: ""))

    private static let never = Int64.min
    /// Blocks in which channels cancel each other, less those in which they do not, from which on they do; and most that count.
    private static let cancellingBlocks = 5, mostCancelling = 20

    var device: String {
        get { texts.withLock { $0.device } }
        set { texts.withLock { $0.device = newValue } }
    }

    var problem: String {
        get { texts.withLock { $0.problem } }
        set { texts.withLock { $0.problem = newValue } }
    }

    func note(_ machine: borrowing CaptureMachine) {
        if Self.isOther(machine.state, than: currentState) {
            since.store(Clock.now.nanoseconds, ordering: .relaxed)
        }
        let counts = machine.counts
        gaps.store(counts.gaps, ordering: .relaxed)
        overruns.store(counts.overruns, ordering: .relaxed)
        suspensions.store(counts.suspensions, ordering: .relaxed)
        stalls.store(counts.stalls, ordering: .relaxed)
        missing.store(counts.missing, ordering: .relaxed)
        losses.store(counts.losses, ordering: .relaxed)
        reconnects.store(counts.reconnects, ordering: .relaxed)
        tooFast.store(machine.isSuspect, ordering: .relaxed)
        state.store(machine.state.rawValue, ordering: .releasing)
    }

    private static func isOther(_ new: CaptureMachine.State, than old: CaptureMachine.State) -> Bool {
        func runs(_ state: CaptureMachine.State) -> Bool { state == .running || state == .recovering }
        return new != old && !(runs(new) && runs(old))
    }

    /// Notes the format of a device that was opened.
    func note(_ format: StreamFormat) {
        zeroSince.store(Self.never, ordering: .relaxed)
        cancelling.store(0, ordering: .relaxed)
        rate.store(format.rate, ordering: .relaxed)
        channels.store(format.channels, ordering: .relaxed)
        sample.store(format.sample.rawValue, ordering: .relaxed)
        period.store(format.period, ordering: .relaxed)
        buffer.store(format.buffer, ordering: .relaxed)
    }

    func note(isRealTime: Bool) { realTime.store(isRealTime, ordering: .relaxed) }

    func note(isLocked: Bool) { locked.store(isLocked, ordering: .relaxed) }

    func note(frames count: Int, length: Duration) {
        read.wrappingAdd(length.nanoseconds, ordering: .relaxed)
        frames.wrappingAdd(UInt64(count), ordering: .releasing)
    }

    func note(_ loss: LossAccount.Loss) { lost.add(loss) }

    func note(_ losses: LossAccount) {
        firstFrame.store(losses.first?.nanoseconds ?? 0, ordering: .relaxed)
        newestFrame.store(losses.newest?.nanoseconds ?? 0, ordering: .relaxed)
        lost.setOpen(losses.gap)
    }

    func note(blockAt time: Instant, peak: Float, cancels: Bool?, level: Float) {
        if peak > 0 {
            zeroSince.store(Self.never, ordering: .relaxed)
        } else if zeroSince.load(ordering: .relaxed) == Self.never {
            zeroSince.store(time.nanoseconds, ordering: .relaxed)
        }
        if let cancels {
            let count = cancelling.load(ordering: .relaxed) + (cancels ? 1 : -1)
            cancelling.store(min(max(0, count), Self.mostCancelling), ordering: .relaxed)
        }
        self.peak.store(peak.bitPattern, ordering: .relaxed)
        self.level.store(level.bitPattern, ordering: .relaxed)
        lastBlock.store(time.nanoseconds, ordering: .relaxed)
        blocks.wrappingAdd(1, ordering: .relaxed)
    }

    /// Only the state, which is cheaper than the whole status.
    var currentState: CaptureMachine.State {
        CaptureMachine.State(rawValue: state.load(ordering: .acquiring)) ?? .stopped
    }

    func status(_ ring: BlockRing.Counts, droppedChanges: UInt64) -> CaptureStatus {
        let format = StreamFormat(
            rate: rate.load(ordering: .relaxed),
            channels: channels.load(ordering: .relaxed),
            sample: SampleFormat(rawValue: sample.load(ordering: .relaxed)) ?? .s16,
            period: period.load(ordering: .relaxed),
            buffer: buffer.load(ordering: .relaxed)
        )
        let (device, problem) = texts.withLock { $0 }
        let zero = zeroSince.load(ordering: .relaxed)
        let blocks = blocks.load(ordering: .relaxed)
        let frames = frames.load(ordering: .acquiring)
        let now = Clock.now
        let (lost, isLosing) = lost.read(at: now)
        let end = isLosing ? now : Instant(nanoseconds: newestFrame.load(ordering: .relaxed))
        return CaptureStatus(
            state: currentState,
            since: Instant(nanoseconds: since.load(ordering: .relaxed)),
            device: device,
            problem: problem,
            format: format.rate > 0 ? format : nil,
            isRealTime: realTime.load(ordering: .relaxed),
            isMemoryLocked: locked.load(ordering: .relaxed),
            counts: CaptureMachine.Counts(
                gaps: gaps.load(ordering: .relaxed),
                overruns: overruns.load(ordering: .relaxed),
                suspensions: suspensions.load(ordering: .relaxed),
                stalls: stalls.load(ordering: .relaxed),
                missing: missing.load(ordering: .relaxed),
                losses: losses.load(ordering: .relaxed),
                reconnects: reconnects.load(ordering: .relaxed)
            ),
            frames: frames,
            read: .nanoseconds(read.load(ordering: .relaxed)),
            elapsed: frames > 0 ? end - Instant(nanoseconds: firstFrame.load(ordering: .relaxed)) : .zero,
            lost: lost,
            blocks: blocks,
            droppedBlocks: ring.dropped,
            staleBlocks: ring.flushed,
            unreadBlocks: ring.unread,
            droppedChanges: droppedChanges,
            peak: Float(bitPattern: peak.load(ordering: .relaxed)),
            level: Float(bitPattern: level.load(ordering: .relaxed)),
            lastBlock: blocks > 0 ? Instant(nanoseconds: lastBlock.load(ordering: .relaxed)) : nil,
            zeroSince: zero == Self.never ? nil : Instant(nanoseconds: zero),
            channelsCancel: cancelling.load(ordering: .relaxed) >= Self.cancellingBlocks,
            isTooFast: tooFast.load(ordering: .relaxed)
        )
    }
}
