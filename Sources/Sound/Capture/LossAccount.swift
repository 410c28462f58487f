import Audio
import Core

extension LostAudio.Cause {
    /// The cause of a gap that a change reports; nil if the change begins no gap.
    init?(_ kind: CaptureMachine.Change.Kind) {
        switch kind {
        case .overrun: self = .overrun
        case .suspended: self = .suspended
        case .lost, .stalled, .tooFast, .unavailable, .stillUnavailable: self = .device
        case .muted: self = .muted
        case .selectionChanged: self = .selection
        // Missing frames are counted where they are found.
        case .framesMissing, .running, .unmuted, .notRealTime: return nil
        }
    }
}

/// Finds out how much audio was lost in each gap: from the last frame before it to the first frame after it. If the cause
/// changes in between, each cause gets its part.
///
/// A pure value. Before the first frame nothing can be lost. A thread that was delayed takes frames for newer than they are,
/// never for older. So frames that continue others are no newer than these and their own length say, apart from the drift
/// of the card's clock, and what the first read after a gap gave too much, the reads of the next second take back.
struct LossAccount {
    struct Loss: Equatable {
        var cause: LostAudio.Cause
        /// Negative, where an earlier one was too long.
        var duration: Duration
    }

    /// Audio that is being lost.
    struct Gap: Equatable {
        var cause: LostAudio.Cause
        var since: Instant
    }

    private static let settling = Duration.seconds(1)

    private(set) var gap: Gap?
    /// When the first frame and the newest one were captured; nil before the first.
    private(set) var first: Instant?
    private(set) var newest: Instant?
    /// What the newest gap cost; nil before the first gap.
    private var last: Loss?
    /// Audio that is still read before the end of the newest gap, or the first frame, is certain.
    private var unsettled = Duration.zero

    /// Notes frames that were read.
    ///
    /// - Parameters:
    ///   - length: their length.
    ///   - time: when the last of them seems to have been captured.
    ///   - drift: how much slower than the machine's clock the card's may run, in parts per million.
    /// - Returns: what the gap before them cost, or the correction of it; nil for neither.
    mutating func frames(_ length: Duration, until time: Instant, drift: Int64 = 1_000) -> Loss? {
        guard let before = newest else {
            (first, newest, unsettled) = (time - length, time, Self.settling)
            return nil
        }
        if let gap {
            let loss = Loss(cause: gap.cause, duration: max(.zero, time - length - gap.since))
            (self.gap, newest, last, unsettled) = (nil, time, loss, Self.settling)
            return loss
        }
        let expected = before + length
        newest = min(time, expected + length / 1_000_000 * Int(drift))
        guard unsettled > .zero else { return nil }
        unsettled -= length
        return time < expected ? takeBack(expected - time) : nil
    }

    private mutating func takeBack(_ duration: Duration) -> Loss? {
        guard let loss = last else {
            first = first.map { $0 - duration }
            return nil
        }
        let back = min(duration, loss.duration)
        last?.duration -= back
        return Loss(cause: loss.cause, duration: .zero - back)
    }

    /// Notes that frames are missing before the next ones.
    mutating func skip(_ duration: Duration) { newest = newest.map { $0 + duration } }

    /// Notes that audio is being lost.
    ///
    /// - Returns: what another cause has cost until now; nil if there was none.
    mutating func begin(_ cause: LostAudio.Cause, at now: Instant) -> Loss? {
        guard let newest else { return nil }
        guard let gap else {
            self.gap = Gap(cause: cause, since: newest)
            return nil
        }
        guard gap.cause != cause else { return nil }
        self.gap = Gap(cause: cause, since: now)
        return Loss(cause: gap.cause, duration: now - gap.since)
    }
}
