public import Spotting

/// What a model heard in a recording, hop by hop: scored once, to be decided about many times.
public struct PosteriorTrace: Sendable {
    private let labels: Int
    private let silence: Int
    private let hopSeconds: Double
    /// Posteriors of all hops behind each other.
    private var posteriors: [Float] = []
    /// What was foreseen after each hop, where it was.
    private var foreseen: [[Float]?] = []
    private var sounds: [SoundActivity] = []

    /// - Parameters:
    ///   - labels: posteriors a hop.
    ///   - silence: index of the label that stands for silence.
    public init(labels: Int, silence: Int, hopSeconds: Double) {
        self.labels = labels
        self.silence = silence
        self.hopSeconds = hopSeconds
    }

    /// Takes one hop in; posteriors of another length are ignored.
    public mutating func add(_ posteriors: [Float], foreseen: [Float]? = nil, sound: SoundActivity) {
        guard posteriors.count == labels else { return }
        self.posteriors += posteriors
        self.foreseen.append(foreseen)
        sounds.append(sound)
    }

    /// The words that a detector with these settings reports, by time.
    public func words(settings: GateSettings, thresholds: Thresholds) -> [HeardWord] {
        var handler = PosteriorHandler(
            labels: labels,
            silence: silence,
            hopSeconds: hopSeconds,
            settings: settings,
            thresholds: thresholds
        )
        var found: [HeardWord] = []
        var hop = [Float](repeating: 0, count: labels)
        for (number, sound) in sounds.enumerated() {
            for label in hop.indices { hop[label] = posteriors[number * labels + label] }
            handler.add(hop, foreseen: foreseen[number], sound: sound) {
                found.append(HeardWord(label: $0.index, time: $0.time))
            }
        }
        return found
    }
}
