/// Scores the words of one kind in one stream. After it is made, nothing allocates.
public protocol WordScorer: AnyObject {
    /// Adds a hop.
    ///
    /// - Parameters:
    ///   - hop: its samples at 16 kHz; the last part of a clip may be shorter.
    ///   - embedding: of the model; empty unless the kind needs it.
    ///   - scores: gets the score of each word, or its steps, by the word's place in the kind.
    func add(hop: Span<Float>, embedding: [Float], to scores: inout WordScores)
    /// Sets the scores that the words will have if the next hop has this embedding, and changes nothing else.
    func lookAhead(embedding: [Float], to scores: inout WordScores)
    /// Begins again, for example after a gap in the audio.
    func flush()
}

extension WordScorer {
    public func lookAhead(embedding: [Float], to scores: inout WordScores) {}
}

/// A step of a word that fires by itself where its score rises.
public struct WordStep: Sendable, Equatable, BitwiseCopyable {
    /// Its place among the words that do so.
    public let word: Int
    /// 0…1
    public let score: Float
    /// Time from the end of the step to the end of the hop, in seconds.
    public let before: Double
}

/// What the scorers of all kinds say of a hop.
public struct WordScores: Sendable, Equatable {
    /// Steps of a word in a hop for which there is room: one in 10 ms, and more than a hop has.
    private static let mostSteps = 16

    /// Probabilities of the words that go through the gate, 0…1.
    public private(set) var probabilities: [Float] = []
    /// How each of them, if it is a phrase, stands beside its parts.
    public private(set) var partMargins: [PartMargin] = []
    /// Of the words that fire by themselves, in the order of time for each.
    public private(set) var steps: [WordStep] = []
    /// The place at which the words of the kind begin whose scorer writes now.
    var first = 0

    /// - Parameters:
    ///   - gated: number of the words that go through the gate.
    ///   - rising: number of those that fire by themselves.
    public init(gated: Int = 0, rising: Int = 0) {
        probabilities = [Float](repeating: 0, count: gated)
        partMargins = [PartMargin](repeating: .infinity, count: gated)
        steps.reserveCapacity(Self.mostSteps * rising)
    }

    /// Sets the probability of a word that goes through the gate.
    public mutating func set(_ word: Int, _ probability: Float, _ partMargin: PartMargin = .infinity) {
        guard probabilities.indices.contains(first + word) else { return }
        probabilities[first + word] = probability
        partMargins[first + word] = partMargin
    }

    /// Adds a step of a word that fires by itself.
    public mutating func add(step word: Int, _ score: Float, before: Double) {
        steps.append(WordStep(word: first + word, score: score, before: before))
    }

    mutating func clearSteps() { steps.removeAll(keepingCapacity: true) }

    /// Takes the probabilities of another one, in place.
    mutating func copy(_ other: WordScores) {
        for index in probabilities.indices { set(index, other.probabilities[index], other.partMargins[index]) }
    }
}

/// What is known of what a loudspeaker played during a hop.
public enum PlayedHop: Sendable, Equatable {
    case unknown
    /// Nothing was played for longer than a window.
    case silence
    /// Posteriors of the model, and the scores of the other words.
    case scores([Float], WordScores)
}
