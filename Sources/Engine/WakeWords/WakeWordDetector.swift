/// Finds wake words in one stream of samples: one front end for all words of microWakeWord, one embedding for all of openWakeWord, a network and
/// a window of probabilities for each.
///
/// It has no clock: time is counted in samples. After `init`, nothing allocates.
public struct WakeWordDetector: ~Copyable {
    public let words: [WakeWord]

    private var frontEnd = MicroFrontEnd()
    private let streams: Streams
    /// Samples since the start.
    private var samples = 0

    public init(_ words: [WakeWord]) {
        self.words = words
        streams = Streams(words)
    }

    /// Adds samples.
    ///
    /// - Parameters:
    ///   - new: samples at 16 kHz in [−1, 1], any number.
    ///   - report: called after each step of each word, with the index of the word, what its newest probabilities come to, and the number of
    ///     samples since the start at the end of the step. That is their mean for a word of microWakeWord, and the lowest of them for one of
    ///     openWakeWord; 0 until the window is full.
    public mutating func add(_ new: Span<Float>, report: (_ word: Int, _ score: Float, _ samples: Int) -> Void) {
        for index in new.indices {
            // As files of 16 bits store them; what is not a number counts as silence.
            let scaled = (new[index] * 32768).rounded(.toNearestOrEven)
            let sample = scaled.isNaN ? 0 : Int16(min(max(scaled, -32768), 32767))
            samples += 1
            if streams.hearFeatures, frontEnd.add(sample) { streams.add(frontEnd.features, samples, report) }
            streams.add(sample, samples, report)
        }
    }

    /// Resets to the state before the first sample, for example after a gap; the count of samples goes on.
    public mutating func flush() {
        frontEnd.reset()
        streams.flush()
    }
}

/// The streams of the words. A class, because an array cannot hold what is not copyable.
private final class Streams {
    private var features: [(word: Int, stream: FeatureStream)] = []
    private var heads: [(word: Int, stream: EmbeddedStream)] = []
    private let embedding: EmbeddingStream?

    init(_ words: [WakeWord]) {
        var embedding: EmbeddingStream?
        for (index, word) in words.enumerated() {
            let window = ScoreWindow(steps: word.manifest.windowSteps)
            switch word.network {
            case .streaming(let network): features.append((index, FeatureStream(network, window)))
            case .head(let network, let over):
                heads.append((index, EmbeddedStream(network, word.manifest.output, silence: over.silence, window)))
                embedding = embedding ?? EmbeddingStream(over)
            }
        }
        self.embedding = embedding
    }

    /// Whether there are words of microWakeWord.
    var hearFeatures: Bool { !features.isEmpty }

    func add(_ new: [UInt16], _ samples: Int, _ report: (Int, Float, Int) -> Void) {
        for index in features.indices {
            if let mean = features[index].stream.add(new) { report(features[index].word, mean, samples) }
        }
    }

    func add(_ sample: Int16, _ samples: Int, _ report: (Int, Float, Int) -> Void) {
        guard let embedding, embedding.add(sample) else { return }
        for index in heads.indices {
            report(heads[index].word, heads[index].stream.add(embedding.newest), samples)
        }
    }

    func flush() {
        for index in features.indices { features[index].stream.flush() }
        for index in heads.indices { heads[index].stream.flush() }
        embedding?.reset()
    }
}

/// A word of microWakeWord in a stream.
private final class FeatureStream {
    private let network: NetworkStream
    /// Hops of the next step that are there.
    private var hops = 0
    private var window: ScoreWindow

    init(_ network: StreamingNetwork, _ window: ScoreWindow) {
        self.network = NetworkStream(network)
        self.window = window
    }

    /// Adds a hop.
    ///
    /// - Returns: the mean of the newest probabilities, if a step was computed.
    func add(_ features: [UInt16]) -> Float? {
        network.put(features, hop: hops)
        hops += 1
        guard hops == network.network.hopsPerStep else { return nil }
        hops = 0
        window.add(network.run())
        return window.mean
    }

    func flush() {
        network.reset()
        hops = 0
        window.clear()
    }
}

/// A word of openWakeWord in a stream.
private final class EmbeddedStream {
    private let head: HeadStream
    private var window: ScoreWindow

    init(_ network: HeadNetwork, _ output: Int, silence: [Float], _ window: ScoreWindow) {
        head = HeadStream(network, output: output, silence: silence)
        self.window = window
    }

    /// Adds an embedding.
    ///
    /// - Returns: the lowest of the newest probabilities.
    func add(_ embedding: UnsafePointer<Float>) -> Float {
        window.add(head.add(embedding))
        return window.lowest
    }

    func flush() {
        head.reset()
        window.clear()
    }
}

/// The newest probabilities of a word.
private struct ScoreWindow {
    private var probabilities: [Float]
    private var next = 0
    private var count = 0

    init(steps: Int) { probabilities = [Float](repeating: 0, count: steps) }

    mutating func add(_ probability: Float) {
        probabilities[next] = probability
        next = next + 1 == probabilities.count ? 0 : next + 1
        count = min(count + 1, probabilities.count)
    }

    /// 0 until the window is full.
    var mean: Float {
        guard count == probabilities.count else { return 0 }
        var sum = 0.0
        for index in probabilities.indices { sum += Double(probabilities[index]) }
        return Float(sum / Double(count))
    }

    /// 0 until the window is full.
    var lowest: Float {
        guard count == probabilities.count else { return 0 }
        var lowest = Float.infinity
        for index in probabilities.indices { lowest = min(lowest, probabilities[index]) }
        return lowest
    }

    mutating func clear() { (next, count) = (0, 0) }
}
