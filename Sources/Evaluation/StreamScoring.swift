/// A word that a detector reported.
public struct HeardWord: Sendable, Equatable {
    /// Index of its label.
    public let label: Int
    /// When it was decided, in seconds from the recording's start.
    public let time: Double

    public init(label: Int, time: Double) {
        self.label = label
        self.time = time
    }
}

/// What became of one detection.
public enum Outcome: Sendable, Equatable {
    /// It is this truth, decided so many seconds after the truth's end.
    case hit(truth: Int, latency: Double)
    /// It came in the time of this truth, which is another word.
    case wrong(truth: Int)
    /// Nothing it could be was said then, or it had been reported before.
    case falseAccept
}

/// Compares detections with what was said.
///
/// A truth's time lasts from its start to `tolerance` after its end. In the order of their decisions, each detection takes
/// the nearest truth of its word that is in its time and not yet taken: a hit. Where its word was said then but has been
/// taken it is a repeat, a false accept. Otherwise the nearest truth of another word that is in its time and not yet taken
/// makes it a wrong word; that truth is not taken by it. What is left are false accepts.
///
/// - Parameters:
///   - detections: by time.
///   - truths: by start.
///   - tolerance: in seconds.
/// - Returns: what became of each detection; a truth that no hit took is a miss.
public func outcomes(of detections: [HeardWord], truths: [SpokenWord], tolerance: Double) -> [Outcome] {
    // Decisions fall on tenths of seconds, which binary fractions miss by a little.
    let reach = tolerance + 1e-6
    var taken = [Bool](repeating: false, count: truths.count)
    var first = 0
    return detections.map { detection in
        let time = detection.time
        while first < truths.count, truths[first].end + reach < time { first += 1 }
        var (own, other): (Int?, Int?)
        var isRepeat = false
        for index in truths[first...].indices {
            let truth = truths[index]
            guard truth.start <= time + 1e-6 else { break }
            guard truth.end + reach >= time else { continue }
            if taken[index] {
                if truth.label == detection.label { isRepeat = true }
            } else if truth.label == detection.label {
                own = nearer(own, index, to: time, truths)
            } else {
                other = nearer(other, index, to: time, truths)
            }
        }
        if let own {
            taken[own] = true
            return .hit(truth: own, latency: time - truths[own].end)
        }
        if let other, !isRepeat { return .wrong(truth: other) }
        return .falseAccept
    }
}

/// The one of two truths whose span of time lies nearer to `time`; of equals the one whose end does.
private func nearer(_ left: Int?, _ right: Int, to time: Double, _ truths: [SpokenWord]) -> Int {
    guard let left else { return right }
    func distance(_ truth: SpokenWord) -> (Double, Double) { (max(0, time - truth.end), abs(time - truth.end)) }
    return distance(truths[left]) <= distance(truths[right]) ? left : right
}
