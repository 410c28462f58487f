public import Spotting

/// Result of comparing one detection with the reference.
public enum Outcome: Sendable, Equatable {
    /// It matches this reference word; `latency` is the time from the word's end to the decision, in seconds.
    case hit(truth: Int, latency: Double)
    /// It falls in the time of this reference word, which is another word.
    case wrong(truth: Int)
    /// There is no reference word at its time, or it had been matched before.
    case falseAccept
}

/// Compares detections with the reference words of a recording.
///
/// A reference word can be matched from its start to `tolerance` after its end. Detections are compared in order of
/// time; "there" means that the time of the decision is in that range:
///
/// 1. A detection matches the nearest unmatched reference of its word: a hit.
/// 2. If all references of its word there are matched, it is a repeat: a false accept.
/// 3. Otherwise, if an unmatched reference of another word is there, it is a wrong word. That reference stays unmatched.
/// 4. Any other detection is a false accept.
///
/// - Parameters:
///   - detections: words, sorted by time.
///   - truths: reference words, sorted by start.
///   - tolerance: in seconds.
/// - Returns: the outcome of each detection. A reference without a hit is a miss.
public func outcomes(of detections: [Detection], truths: [SpokenWord], tolerance: Double) -> [Outcome] {
    // Decisions fall on tenths of seconds, which binary fractions only approximate.
    let reach = tolerance + 1e-6
    var matched = [Bool](repeating: false, count: truths.count)
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
            if matched[index] {
                if truth.label == detection.index { isRepeat = true }
            } else if truth.label == detection.index {
                own = nearer(own, index, to: time, truths)
            } else {
                other = nearer(other, index, to: time, truths)
            }
        }
        if let own {
            matched[own] = true
            return .hit(truth: own, latency: time - truths[own].end)
        }
        if let other, !isRepeat { return .wrong(truth: other) }
        return .falseAccept
    }
}

/// The one of two reference words whose span is nearer to `time`; if equal, the one whose end is nearer.
private func nearer(_ left: Int?, _ right: Int, to time: Double, _ truths: [SpokenWord]) -> Int {
    guard let left else { return right }
    func distance(_ truth: SpokenWord) -> (Double, Double) { (max(0, time - truth.end), abs(time - truth.end)) }
    return distance(truths[left]) <= distance(truths[right]) ? left : right
}

/// Counts of hits and errors over recordings.
public struct StreamTally: Sendable, Equatable {
    /// Counts of one word.
    public struct Word: Sendable, Equatable {
        /// Times it was said.
        public var said = 0
        public var hits = 0
        /// Times another word was detected in its place.
        public var wrong = 0
        /// Times it was detected without having been said.
        public var falseAccepts = 0
        /// Seconds from the end of the word to the decision, `[hits]`.
        public var latencies: [Double] = []

        mutating func add(_ other: Word) {
            said += other.said
            hits += other.hits
            wrong += other.wrong
            falseAccepts += other.falseAccepts
            latencies += other.latencies
        }
    }

    /// Counts by label, `[words]`.
    public private(set) var words: [Word]
    /// Wrong words, `[label said × label detected]`.
    public private(set) var confusion: [[Int]]
    /// Length of all recordings, in seconds.
    public private(set) var seconds = 0.0
    /// Length of the recordings without any word, in seconds, and the false accepts in them.
    public private(set) var wordlessSeconds = 0.0
    public private(set) var wordlessFalseAccepts = 0

    /// A tally of no recordings.
    public init(words count: Int) {
        words = [Word](repeating: Word(), count: count)
        confusion = [[Int]](repeating: [Int](repeating: 0, count: count), count: count)
    }

    /// The tally of one recording; see ``outcomes(of:truths:tolerance:)``. Labels from `count` on are ignored.
    ///
    /// - Parameters:
    ///   - count: number of words; their labels are 0 to `count − 1`.
    ///   - detections: sorted by time.
    ///   - truths: reference words, sorted by start.
    ///   - seconds: length of the recording.
    ///   - tolerance: in seconds.
    public init(
        words count: Int,
        detections: [Detection],
        truths: [SpokenWord],
        seconds: Double,
        tolerance: Double
    ) {
        self.init(words: count)
        self.seconds = seconds
        let truths = truths.filter { words.indices.contains($0.label) }
        let detections = detections.filter { words.indices.contains($0.index) }
        for truth in truths { words[truth.label].said += 1 }
        for (detection, outcome) in zip(detections, outcomes(of: detections, truths: truths, tolerance: tolerance)) {
            switch outcome {
            case .hit(_, let latency):
                words[detection.index].hits += 1
                words[detection.index].latencies.append(latency)
            case .wrong(let truth):
                words[truths[truth].label].wrong += 1
                confusion[truths[truth].label][detection.index] += 1
            case .falseAccept:
                words[detection.index].falseAccepts += 1
            }
        }
        if truths.isEmpty {
            wordlessSeconds = seconds
            wordlessFalseAccepts = total.falseAccepts
        }
    }

    /// Adds recordings of the same words.
    public mutating func add(_ other: StreamTally) {
        for (label, word) in zip(words.indices, other.words) {
            words[label].add(word)
            for (detected, count) in zip(words.indices, other.confusion[label]) { confusion[label][detected] += count }
        }
        seconds += other.seconds
        wordlessSeconds += other.wordlessSeconds
        wordlessFalseAccepts += other.wordlessFalseAccepts
    }

    /// Counts over all words.
    public var total: Word {
        var sum = Word()
        for word in words { sum.add(word) }
        return sum
    }
}
