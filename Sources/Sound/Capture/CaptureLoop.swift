import Audio
import Core
import Glibc
import Synchronization
import System

/// What the capture thread shares with other threads: it gives audio, changes and status; it gets target and selection.
final class CaptureOutput: Sendable {
    /// What a destination gets.
    enum Destination {
        /// Blocks of 100 ms in the ring.
        case ring(capacity: Int)
        /// Pieces of 10 ms: it is the reference of a microphone.
        case reference(ReferenceQueue)
    }

    let ring: BlockRing
    /// Of a microphone: what its thread takes. Of a reference: what it is written to.
    let reference: ReferenceQueue
    /// Samples at 16 kHz that ``publish(_:time:faults:played:reduction:)`` takes at once.
    let length: Int
    let record = CaptureRecord()
    let changes = SPSCQueue<CaptureMachine.Change>(capacity: 64)
    /// Signalled for each block.
    let reader: EventFD
    let selections = Mailbox<InputSelection>()
    private let targetValue = Atomic<UInt8>(CaptureMachine.Target.capture.rawValue)

    convenience init(ringCapacity: Int) throws(CaptureError) { try self.init(.ring(capacity: ringCapacity)) }

    init(_ destination: Destination) throws(CaptureError) {
        let capacity: Int
        switch destination {
        case .ring(let wanted): (capacity, reference, length) = (wanted, ReferenceQueue(), AudioFormat.hopSamples)
        case .reference(let queue): (capacity, reference, length) = (1, queue, ReferenceQueue.pieceSamples)
        }
        do throws(AudioError) {
            ring = try BlockRing(minimumCapacity: capacity, keepsPlayed: length == AudioFormat.hopSamples)
        } catch {
            throw .system(error.description, 0)
        }
        reader = try EventFD(or: CaptureError.noEventFD)
    }

    private var isReference: Bool { length == ReferenceQueue.pieceSamples }

    /// Writes a block to the ring and wakes the reader, or a piece to the queue. Capture thread only.
    ///
    /// - Parameters:
    ///   - time: when its last sample was captured, on the source's clock.
    ///   - faults: what is corrected in the mix of its channels.
    ///   - played: what a loudspeaker played meanwhile.
    ///   - reduction: decibels of echo that are removed.
    func publish(
        _ samples: Span<Float>,
        time: Instant,
        faults: ChannelFaults = ChannelFaults(),
        played: Span<Float> = Span(),
        reduction: Float? = nil
    ) {
        record.update {
            $0.take(samples, time: time)
            ($0.faults, $0.echoReduction) = (faults, reduction)
        }
        guard !isReference else { return reference.push(samples, time: time) }
        ring.write(samples, time: time, played: played)
        reader.signal()
    }

    var status: CaptureStatus { CaptureStatus(record, ring, droppedChanges: changes.droppedCount) }

    /// Makes all audio so far stale. Capture thread only.
    func flush() { if isReference { reference.interrupt() } else { ring.flush() } }

    /// Counts audio that was lost at the device; nil for none. Capture thread only.
    func note(_ loss: LossAccount.Loss?) { if let loss { ring.lost.note(loss.cause, loss.duration) } }

    /// Shows whether audio is being lost. Capture thread only.
    func note(_ losses: LossAccount) {
        ring.lost.setOpen(losses.gap?.cause, since: losses.gap?.since ?? Instant(nanoseconds: 0))
    }

    /// The state that the user asked for; any thread may set it.
    var target: CaptureMachine.Target {
        get { CaptureMachine.Target(rawValue: targetValue.load(ordering: .acquiring)) ?? .stop }
        set { targetValue.store(newValue.rawValue, ordering: .releasing) }
    }
}

/// The capture thread's loop: carries out the actions of ``CaptureMachine`` and writes the audio to the ring.
///
/// While the device runs, nothing here allocates, locks, logs or retains. Opening a device does.
struct CaptureLoop<Source: CaptureSource & ~Copyable>: ~Copyable {
    private var source: Source
    private var machine: CaptureMachine
    private let quality: Resampler.Quality
    private let output: CaptureOutput
    private let ahead: Duration?
    private var cutter: BlockCutter?
    private var clock = FrameClock(rate: 1)
    private var losses = LossAccount()
    private var action: CaptureMachine.Action?
    /// The selection that the device is, or will be, opened with.
    private var selection: InputSelection
    /// Frames that the device still held after the last read, and the time of that read.
    private var held = 0
    private var lastRead = Instant(nanoseconds: 0)

    init(
        source: consuming Source,
        selection: InputSelection = InputSelection(),
        quality: Resampler.Quality = .standard,
        limits: CaptureMachine.Limits = .init(),
        output: CaptureOutput
    ) {
        self.source = source
        self.selection = selection
        self.quality = quality
        self.output = output
        ahead = limits.ahead
        machine = CaptureMachine(limits: limits)
    }

    mutating func run() {
        // Passed as a parameter, so that it is not retained at every use.
        let output = output
        while advance(output) {}
    }

    /// Carries out one action; false after the last one.
    mutating func advance() -> Bool { advance(output) }

    private mutating func advance(_ output: CaptureOutput) -> Bool {
        let event: CaptureMachine.Event
        if output.target != machine.target || action == nil {
            event = .target(output.target)
        } else if action != .close, let newest = output.selections.take(), newest != selection {
            selection = newest
            event = .selectionChanged
        } else {
            event = take(action ?? .end, output)
        }
        let decision = machine.take(event, at: source.now)
        if decision.flush { flush(output) }
        if let change = decision.change, let cause = LostAudio.Cause(change.kind) {
            output.note(losses.begin(cause, at: change.time))
            output.note(losses)
        }
        // The state is published first, so that a thread that gets the change sees the new state.
        output.record.update { $0.take(machine) }
        if let change = decision.change { output.changes.push(change) }
        action = decision.action
        return decision.action != .end
    }

    private mutating func take(_ action: CaptureMachine.Action, _ output: CaptureOutput) -> CaptureMachine.Event {
        switch action {
        case .open: return open(output)
        case .close:
            source.close()
            return .closed
        case .wait(let time):
            if let event = rest(until: time) { return event }
            let result = source.wait(until: time)
            return result < 0 ? .failed(.wait, -result) : result > 0 ? .ready : .nothing
        case .read: return read(output)
        case .prepare: return restarted(.prepare, source.restart())
        case .resume: return restarted(.resume, source.resume())
        case .sleep(let time):
            source.sleep(until: time)
            return .slept
        case .end: return .closed
        }
    }

    private mutating func open(_ output: CaptureOutput) -> CaptureMachine.Event {
        do throws(CaptureError) {
            let format = try source.open(selection)
            discard(output)
            cutter = nil
            cutter = try BlockCutter(format: format, mix: selection.mix, quality: quality, length: output.length)
            clock = FrameClock(rate: format.rate)
            let isRingLocked = output.ring.lockMemory()
            let isLocked = isRingLocked && cutter?.isLocked == true
            output.record.update { $0.take(format, isMemoryLocked: isLocked) }
            return .opened
        } catch {
            source.close()
            output.record.problem = error.description
            return .openFailed(error.number)
        }
    }

    private mutating func restarted(_ call: CaptureMachine.Call, _ result: Int32) -> CaptureMachine.Event {
        clock.reset()
        return result < 0 ? .failed(call, -result) : .restarted
    }

    /// Sleeps until the device holds a block's frames, so that the thread wakes once per block, not once per period.
    ///
    /// - Returns: nil if the device must be polled. `snd_pcm_avail` counts single frames; polling reports whole periods
    ///   only.
    private mutating func rest(until time: Instant) -> CaptureMachine.Event? {
        // While frames may be missing, every period is read, to decide it sooner.
        guard machine.state == .running, !clock.isBehind, let format = cutter?.format,
            let needed = cutter?.framesToBlock
        else { return nil }
        // At most half the device's buffer, so that a small buffer does not overrun.
        let goal = min(needed, format.buffer / 2)
        if held >= goal { return .ready }
        let due = lastRead + format.duration(of: goal - held)
        guard due > source.now, due < time else { return nil }
        if source.rest(until: due) { return .nothing }
        held = max(0, source.waiting())
        return held >= goal ? .ready : nil
    }

    private mutating func read(_ output: CaptureOutput) -> CaptureMachine.Event {
        guard let buffer = cutter?.frames, let capacity = cutter?.capacity else { return .failed(.read, ENODEV) }
        let count = source.read(into: buffer, count: capacity)
        held = 0
        if count == 0 || count == -Int(EAGAIN) || count == -Int(EINTR) { return .nothing }
        guard count > 0 else { return .failed(.read, Int32(clamping: -count)) }
        let now = source.now
        // If the call fails, the next read reports the error.
        let waiting = max(0, source.waiting())
        (held, lastRead) = (waiting, now)
        let format = cutter?.format
        let (length, newest) = (format?.duration(of: count) ?? .zero, now - (format?.duration(of: waiting) ?? .zero))
        let missing = clock.note(count, waiting: waiting, at: now)
        if let ahead, clock.lead > ahead { return tooFast(output) }
        if let missing { losses.skip(missing) }
        output.note(losses.frames(length, until: newest, drift: clock.allowedPerMillion))
        output.note(losses)
        let (first, last) = (losses.first, losses.newest)
        output.record.update { state in
            state.frames += UInt64(count)
            state.read += length
            (state.first, state.newest) = (first, last)
        }
        // These frames may lie on both sides of the gap, so they are dropped too.
        if let missing {
            output.ring.lost.note(.missing, missing)
            output.ring.lost.note(.incomplete, length)
            return .missing(missing)
        }
        if machine.isSuspect { return .frames }
        do throws(AudioError) {
            try cutter?.take(count, time: newest, into: output)
            let (reading, isQuiet) = (cutter?.reading, cutter?.isQuiet ?? false)
            output.record.update { ($0.reading, $0.isQuiet) = (reading, isQuiet) }
            return .frames
        } catch {
            return .failed(.convert, EIO)
        }
    }

    /// Says why the device is given up. It allocates, as closing and opening do.
    private func tooFast(_ output: CaptureOutput) -> CaptureMachine.Event {
        output.record.problem = CaptureError.noClock(output.record.device).description
        return .tooFast
    }

    /// Counts the audio of an incomplete block as lost.
    private mutating func discard(_ output: CaptureOutput) {
        let pending = cutter?.pending ?? .zero
        if pending > .zero { output.ring.lost.note(.incomplete, pending) }
    }

    /// Makes all audio so far stale.
    private mutating func flush(_ output: CaptureOutput) {
        output.flush()
        clock.reset()
        discard(output)
        // If the reset fails, so does the next use, where the error is handled.
        try? cutter?.reset()
    }
}
