public import Capture
public import Core

/// Which of a microphone's changes are told, and when: gaps that come thick and fast are summed up.
///
/// A pure value. The first gap is told at once, with its end. Those that begin within a minute after the last telling and
/// end soon are only counted, and told together when the minute is over; one that lasts is told all the same.
public struct GapReport: Equatable, Sendable {
    /// Something to tell.
    public enum Item: Equatable, Sendable {
        case change(CaptureMachine.Change)
        /// So many gaps that were not told one by one, and how long they lasted together.
        case more(gaps: Int, lost: Duration)
    }

    /// Between two reports.
    static let interval = Duration.seconds(60)
    /// A longer gap is reported by itself.
    static let maxUntold = Duration.seconds(2)

    /// From the first trouble to the next frame.
    private struct Gap: Equatable {
        let start: Instant
        var newest: CaptureMachine.Change
        var isTold: Bool
    }

    private var gap: Gap?
    private var lastTold: Instant?
    private var gaps = 0
    private var lost = Duration.zero

    public init() {}

    /// Takes a change, and gives what is to be told now.
    public mutating func take(_ change: CaptureMachine.Change) -> [Item] {
        var items = look(at: change.time)
        switch change.kind {
        case .overrun, .suspended, .lost, .stalled:
            if gap == nil { gap = Gap(start: change.time, newest: change, isTold: mayTell(change.time)) }
            gap?.newest = change
            if gap?.isTold == true { items.append(.change(change)) }
        case .framesMissing:
            // This begins and ends in one, and ends what was before.
            end(at: change.time)
            if mayTell(change.time) { items.append(.change(change)) } else { count(change.duration) }
        case .running where gap?.isTold == false: end(at: change.time)
        case .running, .muted, .chosen:
            end(at: change.time)
            items.append(.change(change))
        case .unavailable, .stillUnavailable, .unmuted, .notRealTime: items += tellGap() + [.change(change)]
        }
        return items
    }

    /// Gives what has become due meanwhile. To be called every now and then.
    public mutating func look(at now: Instant) -> [Item] {
        var items: [Item] = []
        if gaps > 0, isTime(now) {
            items.append(.more(gaps: gaps, lost: lost))
            (lastTold, gaps, lost) = (now, 0, .zero)
        }
        if let gap, now - gap.start >= Self.maxUntold { items += tellGap() }
        return items
    }

    private func isTime(_ now: Instant) -> Bool { lastTold.map { now - $0 >= Self.interval } ?? true }

    /// Whether a gap that begins now is told at once; it then is.
    private mutating func mayTell(_ now: Instant) -> Bool {
        guard isTime(now) else { return false }
        lastTold = now
        return true
    }

    /// The gap that is not over yet, once.
    private mutating func tellGap() -> [Item] {
        guard let gap, !gap.isTold else { return [] }
        self.gap?.isTold = true
        lastTold = gap.start
        return [.change(gap.newest)]
    }

    /// The gap is over; one of which nothing was said is counted.
    private mutating func end(at now: Instant) {
        if let gap, !gap.isTold { count(now - gap.start) }
        gap = nil
    }

    private mutating func count(_ duration: Duration) {
        gaps += 1
        lost += duration
    }
}
