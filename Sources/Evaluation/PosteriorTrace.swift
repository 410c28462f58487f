public import Spotting

/// What a model heard in a recording, hop by hop: scored once, to be decided about many times.
public struct PosteriorTrace: Sendable {
    private let handler: @Sendable (GateSettings, Thresholds) -> PosteriorHandler
    private var answers: [HopScores] = []
    /// What was foreseen after each hop, where it was.
    private var foreseen: [HopScores?] = []
    private var sounds: [SoundActivity] = []

    /// - Parameters:
    ///   - labels: posteriors a hop.
    ///   - silence: index of the label that stands for silence.
    public init(labels: Int, silence: Int, hopSeconds: Double) {
        handler = { settings, thresholds in
            PosteriorHandler(
                labels: labels,
                silence: silence,
                hopSeconds: hopSeconds,
                settings: settings,
                thresholds: thresholds
            )
        }
    }

    /// For a model and the user's own words.
    public init(_ vocabulary: Vocabulary) {
        handler = { PosteriorHandler(vocabulary, settings: $0, thresholds: $1) }
    }

    /// Takes one hop in.
    public mutating func add(_ answer: HopScores, foreseen: HopScores? = nil, sound: SoundActivity) {
        answers.append(answer)
        self.foreseen.append(foreseen)
        sounds.append(sound)
    }

    /// The words that a detector with these settings reports, by time.
    public func words(settings: GateSettings, thresholds: Thresholds) -> [HeardWord] {
        var handler = handler(settings, thresholds)
        var found: [HeardWord] = []
        for (number, sound) in sounds.enumerated() {
            handler.add(answers[number], foreseen: foreseen[number], sound: sound) {
                found.append(HeardWord(label: $0.index, time: $0.time))
            }
        }
        return found
    }
}
