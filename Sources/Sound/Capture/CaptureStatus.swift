public import Audio
public import Core
import Synchronization
import System

/// The state of a microphone now, and counters since the start: what the capture thread publishes after each step.
public struct CaptureState: Equatable, Sendable, BitwiseCopyable {
    public var state = CaptureMachine.State.waiting
    /// When this state began, on ``Clock``. ``CaptureMachine/State/recovering`` counts as running.
    public var since = Clock.now
    /// The format in which a device was last opened; nil before the first.
    public var format: StreamFormat?
    /// Whether the thread has real-time priority.
    public var isRealTime = false
    /// Whether the thread's memory is locked, so that it is not swapped out.
    public var isMemoryLocked = false
    public var counts = CaptureMachine.Counts()
    /// Frames read from devices.
    public var frames: UInt64 = 0
    /// Their length.
    public var read = Duration.zero
    /// When the first frame and the newest one were captured; nil before the first.
    var first: Instant?
    var newest: Instant?
    /// Blocks made of the frames.
    public var blocks: UInt64 = 0
    /// Largest absolute sample of the last block; full scale is 1.
    public var peak: Float = 0
    /// Root mean square of the last block; full scale is 1.
    public var level: Float = 0
    /// When the last block's last sample was captured, on ``Clock``; nil before the first block.
    public var lastBlock: Instant?
    /// Since when all samples have been exactly zero; nil while there is sound.
    public var zeroSince: Instant?
    /// Decibels of a loudspeaker's echo that are removed; nil while nothing is played.
    public var echoReduction: Float?
    /// What is corrected in the mix of the channels.
    public var faults = ChannelFaults()
    /// How samples are read; nil for those of 16 bits.
    public var reading: SampleReading?
    /// Whether they have been too quiet for half a minute to tell how they are to be read.
    public var isQuiet = false
    /// Whether the device was given up because it has no clock.
    public var isTooFast = false

    mutating func take(_ machine: borrowing CaptureMachine) {
        func runs(_ state: CaptureMachine.State) -> Bool { state == .running || state == .recovering }
        if machine.state != state, !(runs(machine.state) && runs(state)) { since = Clock.now }
        (state, counts, isTooFast) = (machine.state, machine.counts, machine.isSuspect)
    }

    /// Notes the format of a device that was opened.
    mutating func take(_ format: StreamFormat, isMemoryLocked: Bool) {
        (self.format, self.isMemoryLocked) = (format, isMemoryLocked)
        (zeroSince, faults, reading, isQuiet) = (nil, ChannelFaults(), nil, false)
    }

    /// Notes a block and the time of its last sample.
    mutating func take(_ block: Span<Float>, time: Instant) {
        var sum: Float = 0
        peak = 0
        for index in block.indices {
            peak = max(peak, abs(block[index]))
            sum += block[index] * block[index]
        }
        level = (sum / Float(block.count)).squareRoot()
        zeroSince = peak > 0 ? nil : zeroSince ?? time
        lastBlock = time
        blocks += 1
    }
}

/// A ``CaptureState`` with what other threads count and what is text.
@dynamicMemberLookup
public struct CaptureStatus: Equatable, Sendable {
    private var published: CaptureState
    /// ALSA's name of the device last opened or tried; empty before the first.
    public var device: String
    /// Why the last failed attempt to open a device failed, as one line; empty if none failed.
    public var problem: String
    /// The time from the first frame to the newest one or, while audio is being lost, until now.
    public let elapsed: Duration
    /// Audio that was lost since the first frame and did not reach the detector.
    public let lost: [LostAudio.Cause: Duration]
    /// Blocks dropped because the ring was full: the reader was late.
    public let droppedBlocks: UInt64
    /// Blocks in the ring that are not read yet.
    public let unreadBlocks: UInt64
    /// Changes dropped because their queue was full.
    public let droppedChanges: UInt64

    init(_ record: CaptureRecord, _ ring: BlockRing, droppedChanges: UInt64) {
        let now = Clock.now
        let state = record.state
        published = state
        (device, problem) = record.texts.withLock { $0 }
        let isLosing: Bool
        (lost, isLosing) = ring.lost.beforeDetector(at: now)
        elapsed = state.first.map { (isLosing ? now : state.newest ?? now) - $0 } ?? .zero
        let counts = ring.counts
        (droppedBlocks, unreadBlocks, self.droppedChanges) = (counts.dropped, counts.unread, droppedChanges)
    }

    public subscript<Value>(dynamicMember path: WritableKeyPath<CaptureState, Value>) -> Value {
        get { published[keyPath: path] }
        set { published[keyPath: path] = newValue }
    }
}

/// The ``CaptureState``, written by the capture thread and read by any thread.
///
/// Only the texts need a lock, which the capture thread takes while it opens a device, never while it captures.
final class CaptureRecord: Sendable {
    /// The capture thread's own.
    private nonisolated(unsafe) var current = CaptureState()
    private let published = Published(CaptureState())
    fileprivate let texts = Mutex((device: "", problem: ""))

    var device: String {
        get { texts.withLock { $0.device } }
        set { texts.withLock { $0.device = newValue } }
    }

    var problem: String {
        get { texts.withLock { $0.problem } }
        set { texts.withLock { $0.problem = newValue } }
    }

    /// Any thread.
    var state: CaptureState { published.value }

    /// Changes the state and publishes it. Capture thread only.
    func update(_ change: (inout CaptureState) -> Void) {
        change(&current)
        published.set(current)
    }
}
