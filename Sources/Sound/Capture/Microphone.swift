public import Audio
public import Core
import Glibc
import Synchronization
import System

/// A microphone that captures until it is stopped: it recovers from overruns and suspends, and reopens lost devices.
///
/// It captures on a thread of its own; one other thread reads the blocks with ``nextBlock(until:_:)``. All other
/// members may be used from any thread.
public final class Microphone: Sendable {
    public struct Settings: Equatable, Sendable {
        public var selection = InputSelection()
        public var quality = Resampler.Quality.standard
        /// The format to request from the device.
        public var wanted = PCM.Wanted()
        /// SCHED_FIFO priority, 1–99; nil: normal priority.
        public var realTimePriority: Int? = 20
        /// Capacity of the ring, in blocks of 100 ms: how late the reader may be.
        public var ringBlocks = 32

        public init() {}
    }

    private let settings: Settings
    private let output: CaptureOutput
    private let wakeUp: EventFD
    private let thread = Mutex<CaptureThread?>(nil)
    /// What a loudspeaker plays, where its echo is removed by a device of its own.
    private let reference = Mutex<ReferenceCapture?>(nil)
    /// The selection that was applied last.
    private let selection: Mutex<InputSelection>
    /// Serialises threads that take changes: the queue allows one consumer at a time.
    private let takingChanges = Mutex(())

    /// Allocates the ring; no device is opened before ``start()``.
    ///
    /// - Throws: ``CaptureError/system`` if the system gives no memory or descriptor.
    public init(_ settings: Settings = Settings()) throws(CaptureError) {
        self.settings = settings
        selection = Mutex(settings.selection)
        output = try CaptureOutput(ringCapacity: settings.ringBlocks)
        wakeUp = try EventFD(or: CaptureError.noEventFD)
    }

    deinit { stop() }

    /// Starts to capture. If the device is missing, it is opened when it appears.
    ///
    /// - Throws: ``CaptureError/system`` if the system gives no thread.
    public func start() throws(CaptureError) {
        let (settings, output, wakeUp, selection) = (settings, output, wakeUp, selection.withLock { $0 })
        try capture(reference: selection.reference)
        try thread.withLock { thread throws(CaptureError) in
            guard thread == nil else { return }
            output.target = output.target == .stop ? .capture : output.target
            thread = try CaptureThread {
                Self.becomeRealTime(settings.realTimePriority, output)
                var loop = CaptureLoop(
                    source: CardSource(wanted: settings.wanted, record: output.record, wakeUp: wakeUp),
                    selection: selection,
                    quality: settings.quality,
                    output: output
                )
                loop.run()
            }
        }
    }

    /// Gets what a loudspeaker plays from the program that plays it, where the selection has an echo to remove and no device for its
    /// reference.
    public var playedReference: ReferenceQueue { output.reference }

    /// Captures this reference and no other.
    private func capture(reference device: String?) throws(CaptureError) {
        let (queue, settings, target) = (output.reference, settings, output.target)
        try reference.withLock { reference throws(CaptureError) in
            guard reference?.device != device else { return }
            reference.take()?.stop()
            guard let device else { return }
            let state: CaptureMachine.Target = target == .mute ? .mute : .capture
            reference = try ReferenceCapture(of: device, into: queue, settings, target: state)
        }
    }

    static func becomeRealTime(_ priority: Int?, _ output: CaptureOutput) {
        guard let priority else { return }
        let result = CaptureThread.becomeRealTime(priority: priority)
        output.record.update { $0.isRealTime = result == 0 }
        if result != 0 { output.changes.push(.init(kind: .notRealTime, time: Clock.now, number: result)) }
    }

    /// Closes the device and ends the thread; returns when the thread has ended.
    public func stop() {
        thread.withLock { thread in
            set(.stop)
            thread.take()?.join()
        }
        reference.withLock { $0.take()?.stop() }
        output.reader.signal()
    }

    /// Closes the device until ``unmute()``, so that its light goes out; unread audio is dropped.
    public func mute() { setUnlessStopped(.mute) }

    /// Opens the device again.
    public func unmute() { setUnlessStopped(.capture) }

    /// Captures from another device or other channels; does nothing if the selection is the current one.
    ///
    /// The open device is closed, unread audio is dropped, and a gap is counted. A muted microphone stays muted. If the system gives no
    /// thread for another reference, none is captured.
    public func select(_ selection: InputSelection) {
        if !isStopped { try? capture(reference: selection.reference) }
        // Posted under the lock, so that two callers post in the order in which they set `current`.
        self.selection.withLock { current in
            current = selection
            output.selections.post(selection)
        }
        wakeUp.signal()
    }

    private func setUnlessStopped(_ target: CaptureMachine.Target) {
        thread.withLock { thread in
            if output.target != .stop || thread == nil { set(target) }
        }
    }

    private func set(_ target: CaptureMachine.Target) {
        output.target = target
        wakeUp.signal()
        if target != .stop { reference.withLock { $0?.set(target) } }
    }

    /// Whether it was stopped; no more blocks come then.
    public var isStopped: Bool { output.target == .stop }

    /// The state now, and counters since the start.
    public var status: CaptureStatus { output.status }

    /// What was lost, where and why.
    public var lost: LostAudio { output.ring.lost }

    /// ALSA's name of the device that is open, or was last; nil before the first.
    public var deviceInUse: String? {
        let name = output.record.device
        return name.isEmpty ? nil : name
    }

    /// The state of the device with what a loudspeaker plays; nil without one.
    public var referenceStatus: CaptureStatus? { reference.withLock { $0?.output.status } }

    /// As ``nextChange()``, of that device.
    public func nextReferenceChange() -> CaptureMachine.Change? { reference.withLock { $0?.output.changes.pop() } }

    /// Removes the oldest change from the queue; nil if there is none.
    public func nextChange() -> CaptureMachine.Change? { takingChanges.withLock { _ in output.changes.pop() } }

    /// Readable when there may be a block; for a reader that polls other descriptors too.
    public var descriptor: Int32 { output.reader.descriptor }

    /// See ``BlockRing/copyPlayed(to:)``; within the body of ``nextBlock(until:_:)``.
    public func copyPlayed(to samples: inout [Float]) -> Bool { output.ring.copyPlayed(to: &samples) }

    /// Waits for the next block and passes the window (the second of audio) that ends with it.
    ///
    /// The window is valid only inside `body`. Only one thread at a time may call this.
    ///
    /// - Parameters:
    ///   - time: When to give up, on ``Clock``.
    ///   - body: Gets 16000 samples at 16 kHz, oldest first, the last 1600 of them new.
    /// - Returns: False at the timeout, or if capture was stopped.
    public func nextBlock<Failure: Error>(
        until time: Instant,
        _ body: (Span<Float>, AudioBlock) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        while true {
            if try output.ring.withWindow(body) { return true }
            guard output.target != .stop, output.reader.wait(until: time) else { return false }
        }
    }
}
