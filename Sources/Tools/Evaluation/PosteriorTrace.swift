private import Core
private import Inference
public import Spotting
private import WakeWords

/// Scores and activity of a whole recording, hop by hop: computed once, then replayed under many settings.
public struct PosteriorTrace {
    private var hops: [(scores: HopScores, lookahead: HopScores?, activity: ActivityHistory)] = []
    private let looks: RecordedLooks?
    private let hopSamples: Int
    private let wakeWords: WakeWordStream?
    /// The steps of wake words with models of their own in each hop: the word's index, its score, and the time from the step's end to the
    /// hop's, in seconds.
    private var steps: [[(word: Int, score: Float, before: Double)]] = []

    /// - Parameter vocabulary: the one that gave the scores; nil for one without second looks and wake words with models of their own,
    ///   which the trace computes from the windows.
    public init(_ vocabulary: Vocabulary? = nil) {
        looks = vocabulary.flatMap { RecordedLooks($0) }
        hopSamples = vocabulary?.model.hopSamples ?? AudioFormat.hopSamples
        wakeWords = WakeWordStream(vocabulary?.wakeWords ?? [])
    }

    /// Adds one hop; the parameters are those of ``PosteriorHandler/process(_:lookahead:activity:confirmer:report:)``.
    ///
    /// - Parameter window: ends with the hop; needed for a vocabulary with second looks, and for wake words.
    public mutating func add(
        _ scores: HopScores,
        lookahead: HopScores? = nil,
        activity: ActivityHistory,
        window: Span<Float>? = nil
    ) {
        hops.append((scores, lookahead, activity))
        guard let window else { return }
        looks?.add(window)
        guard let wakeWords else { return }
        var found: [(Int, Float, Double)] = []
        wakeWords.add(hop: window.extracting(last: hopSamples)) { found.append(($0, $1, $2)) }
        steps.append(found)
    }

    /// The highest score of a wake word in a hop; nil where it has no step.
    ///
    /// - Parameter number: of the hop, from 0.
    func highest(wakeWord: Int, hop number: Int) -> Float? {
        guard steps.indices.contains(number) else { return nil }
        return steps[number].lazy.filter { $0.word == wakeWord }.map(\.score).max()
    }

    /// The words that a detector with these settings reports, sorted by time.
    ///
    /// - Parameter eachHop: called after each hop with its number, from 0, and the handler.
    public func detections(
        _ settings: DetectorSettings,
        eachHop: (Int, PosteriorHandler) -> Void = { _, _ in }
    ) -> [Detection] {
        var handler = PosteriorHandler(settings)
        var found: [Detection] = []
        for (number, hop) in hops.enumerated() {
            looks?.hop = number
            if steps.indices.contains(number) {
                for step in steps[number] {
                    handler.add(wakeWord: step.word, score: step.score, before: step.before) { found.append($0) }
                }
            }
            handler.process(hop.scores, lookahead: hop.lookahead, activity: hop.activity, confirmer: looks) {
                found.append($0)
            }
            eachHop(number, handler)
        }
        if let last = hops.last {
            handler.finish(activity: last.activity, confirmer: looks) { found.append($0) }
        }
        return found
    }
}

/// Second looks at a whole recording, hop by hop, which remember their verdicts: under many thresholds the gate
/// proposes nearly the same.
private final class RecordedLooks: ProposalConfirmer {
    private struct Place: Hashable {
        var hop: Int
        var word: ProposedWord
        /// The scores after the hop, or those one hop later.
        var posteriors: [Float]
    }

    /// The newest hop that a look may hear.
    var hop = 0
    private let confirmers: Confirmers
    private let hopSamples: Int
    private var samples: [Float] = []
    private var verdicts: [Place: Verdict] = [:]

    init?(_ vocabulary: Vocabulary) {
        guard vocabulary.hasSecondLooks else { return nil }
        confirmers = Confirmers(vocabulary)
        hopSamples = vocabulary.model.hopSamples
    }

    func add(_ window: Span<Float>) {
        let newest = window.extracting(last: hopSamples)
        for index in newest.indices { samples.append(newest[index]) }
    }

    func look(_ word: ProposedWord, _ posteriors: [Float]) -> Verdict {
        let place = Place(hop: hop, word: word, posteriors: posteriors)
        if let known = verdicts[place] { return known }
        let end = min((hop + 1) * hopSamples, samples.count)
        let verdict = confirmers.look(word, posteriors) { first, target in
            for index in target.indices {
                let place = first + index
                target[index] = place >= 0 && place < end ? samples[place] : 0
            }
        }
        verdicts[place] = verdict
        return verdict
    }
}
