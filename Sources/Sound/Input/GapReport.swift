import Capture
import Core

/// Decides which of a microphone's changes are reported, and when; frequent gaps are summed up in one report.
///
/// A pure value. The first gap and its end are reported at once. Short gaps that start within a minute after that are
/// only counted, and reported together when the minute is over. A gap that lasts ``maxUnreported`` or longer is always
/// reported.
struct GapReport: Equatable, Sendable {
    /// Something to report.
    enum Item: Equatable, Sendable {
        case change(CaptureMachine.Change)
        /// The number of gaps that were not reported one by one, and their total duration.
        case more(gaps: Int, lost: Duration)
    }

    /// The time between two reports of short gaps.
    static let interval = Duration.seconds(60)
    /// A gap of this duration or longer is reported by itself.
    static let maxUnreported = Duration.seconds(2)

    /// A gap that has not ended: from the last captured frame before it to the next.
    private struct Gap: Equatable {
        let start: Instant
        var newest: CaptureMachine.Change
        var isReported: Bool
    }

    private var gap: Gap?
    private var lastReported: Instant?
    private var gaps = 0
    private var lost = Duration.zero

    /// Adds a change.
    ///
    /// - Returns: what to report now, in order.
    mutating func take(_ change: CaptureMachine.Change) -> [Item] {
        var items = look(at: change.time)
        switch change.kind {
        case .overrun, .suspended, .lost, .stalled:
            // A process that was stopped notices only when it runs again.
            let start = change.time - change.duration
            if gap == nil { gap = Gap(start: start, newest: change, isReported: mayReport(change.time)) }
            gap?.newest = change
            if gap?.isReported == true { items.append(.change(change)) }
        case .framesMissing:
            // This is a complete gap, and it ends the one before.
            end(at: change.time)
            if mayReport(change.time) { items.append(.change(change)) } else { count(change.duration) }
        case .running where gap?.isReported == false: end(at: change.time)
        case .running, .muted, .selectionChanged:
            end(at: change.time)
            items.append(.change(change))
        case .unavailable, .stillUnavailable, .unmuted, .notRealTime, .tooFast: items += reportGap() + [.change(change)]
        }
        return items
    }

    /// The reports that are due at `now`; call it several times a minute.
    mutating func look(at now: Instant) -> [Item] {
        var items: [Item] = []
        if gaps > 0, isTime(now) {
            items.append(.more(gaps: gaps, lost: lost))
            (lastReported, gaps, lost) = (now, 0, .zero)
        }
        if let gap, now - gap.start >= Self.maxUnreported { items += reportGap() }
        return items
    }

    private func isTime(_ now: Instant) -> Bool { lastReported.map { now - $0 >= Self.interval } ?? true }

    /// Whether a gap that starts now is reported at once; it then counts as reported.
    private mutating func mayReport(_ now: Instant) -> Bool {
        guard isTime(now) else { return false }
        lastReported = now
        return true
    }

    /// Reports a gap that is not over yet, once.
    private mutating func reportGap() -> [Item] {
        guard let gap, !gap.isReported else { return [] }
        self.gap?.isReported = true
        lastReported = gap.start
        return [.change(gap.newest)]
    }

    /// Ends the current gap; counts it if it was not reported.
    private mutating func end(at now: Instant) {
        if let gap, !gap.isReported { count(now - gap.start) }
        gap = nil
    }

    private mutating func count(_ duration: Duration) {
        gaps += 1
        lost += duration
    }
}
