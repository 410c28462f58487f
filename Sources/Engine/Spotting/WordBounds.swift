/// Start and end of a word in seconds of stream time, estimated from the hops that it won and the sound around them.
struct WordBounds {
    let start: Double
    let end: Double

    init(start: Double, end: Double) { (self.start, self.end) = (start, end) }

    /// Those of the active segment around the hops that it won, cut to the length that a word can have. A segment that starts after
    /// the word's first hop, such as the release of its last consonant, is not where the word starts.
    ///
    /// - Parameters:
    ///   - won: end of the first hop that it won.
    ///   - best: end of the hop with its highest score.
    ///   - lastEnd: end of the word before; no later word starts before it.
    ///   - now: end of the newest hop.
    ///   - activity: up to and including that hop.
    init(won: Double, best: Double, after lastEnd: Double, now: Double, _ activity: ActivityHistory) {
        // The first hop that a word wins lies within it or right after it; few command words last over 0.7 s.
        let earliest = max(0, won - 0.75, min(lastEnd, won - 0.2))
        // A sound that was over half a second before the first hop is another one.
        let before = activity.lastSegment(within: 1.5, begunBefore: now - won)
        let around = before.flatMap { won - (now - $0.end) <= 0.5 ? $0 : nil }
        // A segment that starts after the best hop is speech after the word.
        guard let last = around ?? activity.lastSegment(within: 1.5), now - last.start < best else {
            (start, end) = (max(0, won - 0.5), won)
            return
        }
        let end = min(now - last.end, best)
        start = max(0, min(max(now - last.start, earliest), end - 0.1))
        self.end = end
    }
}
