public import Core
import Glibc

/// What a capture loop does about whatever happens to its device.
///
/// A pure value: it is told what happened and when, and answers with the next step; the steps are taken outside, by
/// ``CaptureLoop``. Times are on one monotonic clock.
///
/// A *gap* begins with the first trouble and ends with the next frame, however many recoveries and openings lie in
/// between; it is counted once. A device that has been given up is asked for again every half second at most, so that
/// capture resumes within a second of its return; what is said of it comes at growing intervals.
public struct CaptureMachine: Equatable, Sendable {
    public private(set) var state = State.waiting
    public private(set) var counts = Counts()

    private let limits: Limits
    private var isOpen = false
    /// Recoveries since the last frame.
    private var recoveries = 0
    /// Attempts to resume since the suspend.
    private var resumes = 0
    /// Attempts to open since the device was last sound.
    private var openings = 0
    /// When the frames that now come began to come.
    private var runningSince: Instant?
    private var deadline = Instant(nanoseconds: 0)
    private var gapStart: Instant?
    private var absence: Absence?

    /// A time without a device, and what was said of it.
    private struct Absence: Equatable {
        let start: Instant
        var said: Int32
        var lastSaid: Instant
        var reminders = 0
    }

    public init(limits: Limits = Limits()) { self.limits = limits }

    /// The wish that is being followed.
    public var wish: Target {
        switch state {
        case .muted: .mute
        case .stopped: .stop
        case .waiting, .running, .recovering, .lost: .capture
        }
    }

    /// Takes what happened and says what to do.
    ///
    /// - Parameter now: not before that of the call before.
    public mutating func take(_ event: Event, at now: Instant) -> Decision {
        switch event {
        case .wish(let wish): return follow(wish, now)
        case .chosen: return choose(now)
        case .opened:
            (isOpen, recoveries, resumes) = (true, 0, 0)
            deadline = now + limits.firstFrame
            return Decision(.wait(until: deadline))
        case .openFailed(let number): return absent(number, now)
        case .ready: return Decision(.read)
        case .frames: return progress(now)
        case .missing(let duration): return missing(duration, now)
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
        case .closed: return Decision(.sleep(until: now + reopenDelay()))
        }
    }

    private mutating func follow(_ wish: Target, _ now: Instant) -> Decision {
        let closing: Action? = isOpen ? .close : nil
        var decision: Decision
        switch wish {
        case .capture:
            decision = Decision(.open)
            if state == .muted { decision.change = Change(.unmuted, at: now) }
            state = .waiting
        case .mute:
            decision = Decision(closing ?? .sleep(until: .distantFuture))
            decision.flush = true
            decision.change = Change(.muted, at: now)
            state = .muted
        case .stop:
            decision = Decision(closing ?? .end)
            state = .stopped
        }
        isOpen = false
        (openings, runningSince, gapStart, absence) = (0, nil, nil, nil)
        return decision
    }

    /// Whatever is open is closed, and opened as it is wanted now.
    private mutating func choose(_ now: Instant) -> Decision {
        switch state {
        case .muted: return Decision(.sleep(until: .distantFuture))
        case .stopped: return Decision(.end)
        case .waiting, .running, .recovering, .lost: break
        }
        var decision = Decision(isOpen ? .close : .open)
        decision.flush = beginGap(now)
        decision.change = Change(.chosen, at: now)
        (state, isOpen, openings, absence) = (.waiting, false, 0, nil)
        return decision
    }

    // MARK: Frames

    private mutating func progress(_ now: Instant) -> Decision {
        (recoveries, resumes) = (0, 0)
        deadline = now + limits.progress
        var decision = Decision(.wait(until: deadline))
        let since = runningSince ?? now
        runningSince = since
        if now - since >= limits.settled { openings = 0 }
        guard state != .running else { return decision }
        if state == .lost { counts.reconnects += 1 }
        decision.change = Change(.running, at: now, duration: gapStart.map { now - $0 } ?? .zero)
        (state, gapStart, absence) = (.running, nil, nil)
        return decision
    }

    private mutating func missing(_ duration: Duration, _ now: Instant) -> Decision {
        var decision = progress(now)
        counts.gaps += 1
        counts.missing += 1
        decision.flush = true
        decision.change = Change(.framesMissing, at: now, duration: duration)
        return decision
    }

    // MARK: Trouble

    private mutating func recover(from call: Call, _ number: Int32, _ now: Instant) -> Decision {
        if call == .resume, ![EPIPE, ESTRPIPE, ENODEV].contains(number) {
            // A device may sleep on for a while; a driver that cannot resume is prepared instead.
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
            decision.change = Change(isSuspended ? .suspended : .overrun, at: now, call: call, number: number)
            state = .recovering
        }
        return decision
    }

    /// Closes the device; it is asked for again later.
    private mutating func giveUp(_ kind: Change.Kind, _ call: Call, _ number: Int32, _ now: Instant) -> Decision {
        var decision = Decision(.close)
        decision.flush = beginGap(now)
        if decision.flush, kind == .stalled { counts.stalls += 1 }
        if state == .running || state == .recovering {
            state = .lost
            counts.losses += 1
        }
        decision.change = say(kind, call, number, now)
        isOpen = false
        return decision
    }

    private mutating func absent(_ number: Int32, _ now: Instant) -> Decision {
        isOpen = false
        var decision = Decision(.sleep(until: now + reopenDelay()))
        decision.change = say(.unavailable, .open, number, now)
        return decision
    }

    /// What to say of a device that is not there: its absence once, another reason for it where the user can do
    /// something about that, and then reminders.
    private mutating func say(_ kind: Change.Kind, _ call: Call, _ number: Int32, _ now: Instant) -> Change? {
        guard var absence else {
            absence = Absence(start: now, said: number, lastSaid: now)
            return Change(kind, at: now, call: call, number: number)
        }
        defer { self.absence = absence }
        if number != absence.said, [EBUSY, EACCES, EPERM].contains(number) {
            (absence.said, absence.lastSaid) = (number, now)
            return Change(kind, at: now, call: call, number: number)
        }
        let due = Limits.reminders[min(absence.reminders, Limits.reminders.count - 1)]
        guard now - absence.lastSaid >= due else { return nil }
        absence.reminders += 1
        absence.lastSaid = now
        return Change(.stillUnavailable, at: now, call: call, number: number, duration: now - absence.start)
    }

    private mutating func reopenDelay() -> Duration {
        defer { openings += 1 }
        return Limits.reopen[min(openings, Limits.reopen.count - 1)]
    }

    /// Whether this is the first trouble since the last frame; trouble before any frame is no gap.
    private mutating func beginGap(_ now: Instant) -> Bool {
        runningSince = nil
        guard state == .running else { return false }
        counts.gaps += 1
        gapStart = now
        return true
    }
}
