public import Inference

/// Teaches one word: takes in, the word and how well it stands apart out.
public struct EnrollmentSession: ~Copyable {
    /// Takes that are wanted for one voice at least, and how many are asked for.
    public static let wanted = 4
    /// How like the others a take is at least.
    static let leastLikeness: Float = 0.4

    public let name: String
    /// Takes that teach the word, those that it had before among them.
    public private(set) var takes: [WordStore.Take]

    private let model: Model
    private let keepsAudio: Bool
    private var embedder: TakeEmbedder

    /// - Parameters:
    ///   - known: the word as it was taught before; nil where it is new.
    ///   - keepsAudio: whether recordings are kept, so that another model can learn the word from them.
    public init(
        _ name: String,
        known: WordStore.Word?,
        model: Model,
        keepsAudio: Bool
    ) throws(EnrollmentError) {
        try WordStore.check(name: name)
        self.name = name
        self.model = model
        self.keepsAudio = keepsAudio
        takes = known?.takes ?? []
        embedder = TakeEmbedder(model)
    }

    /// Hops between the anchors of a phrase.
    private func lag(_ utterance: Utterance) -> Int {
        takes.first?.lag ?? TakeEmbedder.lag(seconds: utterance.seconds, model)
    }

    /// Takes an utterance in.
    ///
    /// - Returns: why it teaches nothing; nil where it does.
    public mutating func add(_ utterance: Utterance) -> TakeFault? {
        if let fault = TakeCheck(utterance).fault { return fault }
        let lag = lag(utterance)
        let anchors = embedder.anchors(of: utterance, lag: lag)
        guard anchors.allSatisfy({ $0.contains { $0 != 0 } }) else { return .nothing }
        let audio = keepsAudio ? utterance.audio : []
        takes.append(WordStore.Take(anchors: anchors, lag: lag, audio: audio))
        return nil
    }

    /// Takes those out that are unlike the others, the least alike first; of two that differ none can be told.
    ///
    /// - Returns: places in `takes` as it was, and how like the others each was.
    public mutating func dropStrangers() -> [(place: Int, likeness: Float)] {
        var places = Array(takes.indices)
        var dropped: [(place: Int, likeness: Float)] = []
        while takes.count > 2 {
            let word = WordStore.Word(name: name, takes: takes)
            let likenesses = takes.indices.map { word.likeness(ofTake: $0) ?? -1 }
            guard let worst = likenesses.indices.min(by: { likenesses[$0] < likenesses[$1] }),
                likenesses[worst] < Self.leastLikeness
            else { break }
            dropped.append((places[worst], likenesses[worst]))
            takes.remove(at: worst)
            places.remove(at: worst)
        }
        return dropped
    }

    /// The word as it is now, without a boundary of its own.
    public var word: WordStore.Word { WordStore.Word(name: name, takes: takes) }
}

extension WordStore.Word {
    /// Settles where the word fires, by what it has to stand apart from.
    ///
    /// - Parameter others: the user's words; one of this name does not count.
    public mutating func settle(among others: [WordStore.Word], _ background: NegativeSet) -> WordCalibration {
        let standing = WordCalibration(self, besides: others.filter { $0.name != name }, background: background)
        boundary = standing.boundary
        threshold = standing.suggested.threshold
        return standing
    }
}
