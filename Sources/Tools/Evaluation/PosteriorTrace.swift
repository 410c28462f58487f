private import Core
private import Inference
public import Spotting

/// Scores and activity of a whole recording, hop by hop: computed once, then replayed under many settings.
public struct PosteriorTrace {
    private var hops: [(scores: HopScores, lookahead: HopScores?, activity: ActivityHistory)] = []
    private let looks: RecordedLooks

    /// - Parameter vocabulary: the one that gave the scores; nil for one without second looks.
    public init(_ vocabulary: Vocabulary? = nil) { looks = RecordedLooks(vocabulary) }

    /// Adds one hop; the parameters are those of ``WordStream/add(_:lookahead:activity:hop:report:)``.
    ///
    /// - Parameter window: ends with the hop; needed for a vocabulary with second looks.
    public mutating func add(
        _ scores: HopScores,
        lookahead: HopScores? = nil,
        activity: ActivityHistory,
        window: Span<Float>? = nil
    ) {
        hops.append((scores, lookahead, activity))
        if let window { looks.record(window) }
    }

    /// The highest score in a hop of a word that fires by itself; nil where it has no step.
    ///
    /// - Parameters:
    ///   - word: its place among these words.
    ///   - number: of the hop, from 0.
    func highest(rising word: Int, hop number: Int) -> Float? {
        hops[number].scores.words.steps.lazy.filter { $0.word == word }.map(\.score).max()
    }

    /// The words that a detector with these settings reports, sorted by time.
    ///
    /// - Parameter eachHop: called after each hop with its number, from 0, and the handler.
    public func detections(
        _ settings: DetectorSettings,
        eachHop: (Int, PosteriorHandler) -> Void = { _, _ in }
    ) -> [Detection] {
        looks.begin()
        var words = WordStream(settings, looks: looks)
        var found: [Detection] = []
        for (number, hop) in hops.enumerated() {
            words.add(hop.scores, lookahead: hop.lookahead, activity: hop.activity, hop: Span()) { found.append($0) }
            eachHop(number, words.handler)
        }
        words.finish { found.append($0) }
        return found
    }
}

/// Second looks at a whole recording, hop by hop, which remember their verdicts: under many thresholds the gate
/// proposes nearly the same.
private final class RecordedLooks: ProposalLook {
    private struct Place: Hashable {
        var hop: Int
        var word: ProposedWord
        /// The scores after the hop, or those one hop later.
        var posteriors: [Float]
    }

    /// The newest hop that a look may hear.
    private var hop = -1
    /// Nil without second looks.
    private let vocabulary: Vocabulary?
    private let hopSamples: Int
    private var samples: [Float] = []
    private var verdicts: [Place: Verdict] = [:]

    init(_ vocabulary: Vocabulary?) {
        self.vocabulary = vocabulary?.hasSecondLooks == true ? vocabulary : nil
        hopSamples = vocabulary?.model.hopSamples ?? AudioFormat.hopSamples
    }

    /// Adds the audio of a hop.
    func record(_ window: Span<Float>) {
        guard vocabulary != nil else { return }
        let newest = window.extracting(last: hopSamples)
        for index in newest.indices { samples.append(newest[index]) }
    }

    /// Replays from the first hop on.
    func begin() { hop = -1 }

    func add(hop _: Span<Float>) { hop += 1 }

    func look(_ word: ProposedWord, _ posteriors: [Float]) -> Verdict {
        let place = Place(hop: hop, word: word, posteriors: posteriors)
        if let known = verdicts[place] { return known }
        let end = min((hop + 1) * hopSamples, samples.count)
        let verdict = vocabulary?.withLooks { looks in
            looks.look(word, posteriors) { first, target in
                for index in target.indices {
                    let place = first + index
                    target[index] = place >= 0 && place < end ? samples[place] : 0
                }
            }
        }
        let answer = verdict ?? Verdict(label: word.label, confidence: 0, confirmed: 0)
        verdicts[place] = answer
        return answer
    }
}
