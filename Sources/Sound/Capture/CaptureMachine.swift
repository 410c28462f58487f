public import Core
import Glibc

/// The state machine of capture: decides what to do after each event of a device.
///
/// A pure value: it takes an event and its time and returns the next action. ``CaptureLoop`` carries out the actions
/// and reports their results as events. All times are on one monotonic clock.
///
/// A *gap* begins with the first failure and ends with the next frame, whatever recoveries and openings are between
/// them; it counts once. A device that was given up is reopened at least every half second, so that capture resumes
/// within a second of its return. Messages about it come at growing intervals.
public struct CaptureMachine: Equatable, Sendable {
    // MARK: - States and counts

    public enum State: UInt8, Sendable, CaseIterable, BitwiseCopyable {
        /// No frame yet since the start, unmuting or another selection: the device is missing, busy, or just opened.
        case waiting
        /// Frames arrive.
        case running
        /// The device is open and is being restarted.
        case recovering
        /// The device ran and was given up; opening it is tried again and again.
        case lost
        /// The device is closed because the user muted it.
        case muted
        case stopped
    }

    /// The state that the user asked for.
    public enum Target: UInt8, Sendable {
        case capture, mute, stop
    }

    /// Timeouts and numbers of attempts.
    public struct Limits: Equatable, Sendable {
        /// A running device that gives no frame for this long has stalled.
        public var progress = Duration.seconds(1)
        /// How long a device may take until its first frame; Bluetooth needs more than a second.
        public var firstFrame = Duration.seconds(3)
        /// After frames for this long, the delays before reopening start again from the shortest.
        public var settled = Duration.seconds(1)
        /// A device whose frames are this far ahead of the clock has none; nil: it is taken as it is.
        public var ahead: Duration? = .seconds(5)
        /// Delay before a device without a clock is opened again: it may be another one by then, but hardly soon.
        public var refused = Duration.seconds(30)
        /// Most recoveries without a frame in between; then the device is given up.
        public var recoveries = 5
        /// Time between two attempts to resume a suspended device.
        public var resume = Duration.milliseconds(50)
        /// Most attempts to resume; then the device is prepared instead.
        public var resumes = 20
        /// Delays before the first, second, … opening after a loss; the last one is repeated.
        static let reopen: [Duration] = [50, 100, 200, 400, 500].map(Duration.milliseconds)
        /// Delays before the first, second, … reminder of a missing device; the last one is repeated.
        static let reminders: [Duration] = [60, 600, 3600, 21_600].map(Duration.seconds)

        public init() {}
    }

    /// Counters since the start.
    public struct Counts: Equatable, Sendable, BitwiseCopyable {
        /// All gaps, whatever the cause.
        public var gaps: UInt64 = 0
        /// Gaps that began with an overrun: the reader was late.
        public var overruns: UInt64 = 0
        /// Gaps that began with a suspend.
        public var suspensions: UInt64 = 0
        /// Gaps that began because the device delivered no more frames.
        public var stalls: UInt64 = 0
        /// Gaps without an error, found by comparing the number of frames with the clock.
        public var missing: UInt64 = 0
        /// How often a running device was given up.
        public var losses: UInt64 = 0
        /// How often a device that was given up delivered frames again.
        public var reconnects: UInt64 = 0
    }

    // MARK: - Events, actions and changes

    /// The call that caused an error.
    public enum Call: UInt8, Sendable, BitwiseCopyable {
        case none, open, prepare, resume, wait, read, convert

        /// The function's name, for messages.
        public var function: String {
            switch self {
            case .none: "–"
            case .open: "snd_pcm_open"
            case .prepare: "snd_pcm_prepare"
            case .resume: "snd_pcm_resume"
            case .wait: "poll"
            case .read: "snd_pcm_readi"
            case .convert: "src_process"
            }
        }
    }

    /// What happened.
    public enum Event: Equatable, Sendable {
        /// The user set another target; the first one starts capture.
        case target(Target)
        /// Another device or other channels were selected.
        case selectionChanged
        case opened
        /// With the errno.
        case openFailed(Int32)
        /// The device has frames, or an error, to read.
        case ready
        /// Frames were read.
        case frames
        /// Frames were read; according to the clock, this much audio is missing before them.
        case missing(Duration)
        /// Frames were read that are too far ahead of the clock; see ``Limits/ahead``.
        case tooFast
        /// A wait ended or a read returned without frames and without an error.
        case nothing
        /// A call failed with this errno.
        case failed(Call, Int32)
        /// The device was prepared or resumed and runs again.
        case restarted
        case closed
        case slept
    }

    /// What to do next.
    public enum Action: Equatable, Sendable {
        case open
        case close
        /// Wait for frames, at most until this time.
        case wait(until: Instant)
        case read
        /// Prepare and start the device.
        case prepare
        case resume
        /// Do nothing until this time, or until the target or the selection changes.
        case sleep(until: Instant)
        case end
    }

    /// The next action, and what else to do.
    public struct Decision: Equatable, Sendable {
        public var action: Action
        /// Whether all audio so far is stale.
        public var flush = false
        /// The change to report to the user; nil: none.
        public var change: Change?

        init(_ action: Action) { self.action = action }
    }

    // MARK: - The machine

    public private(set) var state = State.waiting
    public private(set) var counts = Counts()

    private let limits: Limits
    private var isOpen = false
    /// Recoveries since the last frame.
    private var recoveries = 0
    /// Attempts to resume since the suspend.
    private var resumes = 0
    /// Attempts to open since the device last ran for ``Limits/settled``.
    private var openings = 0
    /// When the current run of frames began; nil while there are none.
    private var runningSince: Instant?
    private var deadline = Instant(nanoseconds: 0)
    /// When frames were read last; what is lost is lost since then, however late a failure is noticed.
    private var newestFrames: Instant?
    private var gapStart: Instant?
    private var outage: Outage?
    /// Whether the device was given up as one without a clock. Then its frames are dropped until they have come for
    /// ``Limits/settled``, so that it does not seem to run each time it is opened.
    public private(set) var isSuspect = false
    private var openedAt = Instant(nanoseconds: 0)

    /// A time without a device, and the reports about it.
    private struct Outage: Equatable {
        let start: Instant
        /// The errno last reported.
        var number: Int32
        var lastReport: Instant
        var reminders = 0
    }

    public init(limits: Limits = Limits()) { self.limits = limits }

    /// The target that the machine was given last.
    public var target: Target {
        switch state {
        case .muted: .mute
        case .stopped: .stop
        case .waiting, .running, .recovering, .lost: .capture
        }
    }

    /// Takes an event and decides what to do.
    ///
    /// - Parameter now: not earlier than in the previous call.
    public mutating func take(_ event: Event, at now: Instant) -> Decision {
        switch event {
        case .target(let target): return pursue(target, now)
        case .selectionChanged: return reopen(now)
        case .opened:
            (isOpen, recoveries, resumes, openedAt) = (true, 0, 0, now)
            deadline = now + limits.firstFrame
            return Decision(.wait(until: deadline))
        case .openFailed(let number): return openFailed(number, now)
        case .ready: return Decision(.read)
        case .frames: return progress(now)
        case .missing(let duration): return missing(duration, now)
        case .tooFast: return refuse(now)
        case .nothing where now < deadline: return Decision(.wait(until: deadline))
        case .nothing: return giveUp(.stalled, .wait, 0, now)
        case .failed(let call, let number): return recover(from: call, number, now)
        case .restarted:
            deadline = now + limits.progress
            return Decision(.wait(until: deadline))
        case .slept where state == .muted: return Decision(.sleep(until: .distantFuture))
        case .slept: return Decision(isOpen ? .resume : .open)
        case .closed where state == .stopped: return Decision(.end)
        case .closed where state == .muted: return Decision(.sleep(until: .distantFuture))
        case .closed: return Decision(.sleep(until: now + (isSuspect ? limits.refused : reopenDelay())))
        }
    }

    private mutating func pursue(_ target: Target, _ now: Instant) -> Decision {
        let closing: Action? = isOpen ? .close : nil
        var decision: Decision
        switch target {
        case .capture:
            decision = Decision(.open)
            if state == .muted { decision.change = Change(kind: .unmuted, time: now) }
            state = .waiting
        case .mute:
            decision = Decision(closing ?? .sleep(until: .distantFuture))
            decision.flush = true
            decision.change = Change(kind: .muted, time: now)
            state = .muted
        case .stop:
            decision = Decision(closing ?? .end)
            state = .stopped
        }
        isOpen = false
        (openings, runningSince, gapStart, outage, isSuspect) = (0, nil, nil, nil, false)
        return decision
    }

    /// Closes the device if it is open; the new selection is opened next.
    private mutating func reopen(_ now: Instant) -> Decision {
        switch state {
        case .muted: return Decision(.sleep(until: .distantFuture))
        case .stopped: return Decision(.end)
        case .waiting, .running, .recovering, .lost: break
        }
        var decision = Decision(isOpen ? .close : .open)
        decision.flush = beginGap(now)
        decision.change = Change(kind: .selectionChanged, time: now)
        (state, isOpen, openings, outage, isSuspect) = (.waiting, false, 0, nil, false)
        return decision
    }

    // MARK: Frames

    private mutating func progress(_ now: Instant) -> Decision {
        (recoveries, resumes, newestFrames) = (0, 0, now)
        deadline = now + limits.progress
        var decision = Decision(.wait(until: deadline))
        if isSuspect, now - openedAt < limits.settled { return decision }
        isSuspect = false
        let since = runningSince ?? now
        runningSince = since
        if now - since >= limits.settled { openings = 0 }
        guard state != .running else { return decision }
        if state == .lost { counts.reconnects += 1 }
        decision.change = Change(kind: .running, time: now, duration: gap(until: now))
        (state, gapStart, outage) = (.running, nil, nil)
        return decision
    }

    private mutating func missing(_ duration: Duration, _ now: Instant) -> Decision {
        var decision = progress(now)
        counts.gaps += 1
        counts.missing += 1
        decision.flush = true
        decision.change = Change(kind: .framesMissing, time: now, duration: duration)
        return decision
    }

    // MARK: Failures

    private mutating func recover(from call: Call, _ number: Int32, _ now: Instant) -> Decision {
        if call == .resume, ![EPIPE, ESTRPIPE, ENODEV].contains(number) {
            // EAGAIN: the device is still suspended. A driver that cannot resume is prepared instead.
            resumes += 1
            let again = number == EAGAIN && resumes <= limits.resumes
            return Decision(again ? .sleep(until: now + limits.resume) : .prepare)
        }
        guard [EPIPE, ESTRPIPE, EBADFD].contains(number), recoveries < limits.recoveries else {
            return giveUp(.lost, call, number, now)
        }
        recoveries += 1
        let isSuspended = number == ESTRPIPE
        var decision = Decision(isSuspended ? .resume : .prepare)
        if beginGap(now) {
            if isSuspended { counts.suspensions += 1 } else { counts.overruns += 1 }
            decision.flush = true
            let kind = isSuspended ? Change.Kind.suspended : .overrun
            decision.change = Change(kind: kind, time: now, call: call, number: number, duration: gap(until: now))
            state = .recovering
        }
        return decision
    }

    /// Closes the device; it is reopened later.
    private mutating func giveUp(_ kind: Change.Kind, _ call: Call, _ number: Int32, _ now: Instant) -> Decision {
        var decision = Decision(.close)
        decision.flush = beginGap(now)
        if decision.flush, kind == .stalled { counts.stalls += 1 }
        if state == .running || state == .recovering {
            state = .lost
            counts.losses += 1
        }
        decision.change = report(kind, call, number, now)
        isOpen = false
        return decision
    }

    /// Gives up a device without a clock. All its audio is worthless.
    private mutating func refuse(_ now: Instant) -> Decision {
        isSuspect = true
        var decision = giveUp(.tooFast, .read, 0, now)
        decision.flush = true
        return decision
    }

    private mutating func openFailed(_ number: Int32, _ now: Instant) -> Decision {
        isOpen = false
        var decision = Decision(.sleep(until: now + reopenDelay()))
        decision.change = report(.unavailable, .open, number, now)
        return decision
    }

    /// The change to report for a missing device: at first, for a new reason that the user can act on, as reminders.
    private mutating func report(_ kind: Change.Kind, _ call: Call, _ number: Int32, _ now: Instant) -> Change? {
        guard var outage else {
            outage = Outage(start: now, number: number, lastReport: now)
            return Change(kind: kind, time: now, call: call, number: number, duration: gap(until: now))
        }
        defer { self.outage = outage }
        if number != outage.number, [EBUSY, EACCES, EPERM].contains(number) {
            (outage.number, outage.lastReport) = (number, now)
            return Change(kind: kind, time: now, call: call, number: number, duration: gap(until: now))
        }
        let due = Limits.reminders[min(outage.reminders, Limits.reminders.count - 1)]
        guard now - outage.lastReport >= due else { return nil }
        outage.reminders += 1
        outage.lastReport = now
        return Change(kind: .stillUnavailable, time: now, call: call, number: number, duration: now - outage.start)
    }

    private mutating func reopenDelay() -> Duration {
        defer { openings += 1 }
        return Limits.reopen[min(openings, Limits.reopen.count - 1)]
    }

    /// Begins a gap if this is the first failure since the last frame, and returns whether it is. Before the first
    /// frame there is no gap.
    private mutating func beginGap(_ now: Instant) -> Bool {
        runningSince = nil
        guard state == .running else { return false }
        counts.gaps += 1
        gapStart = newestFrames ?? now
        return true
    }

    /// The length of the gap; 0 for none.
    private func gap(until now: Instant) -> Duration { gapStart.map { now - $0 } ?? .zero }
}
