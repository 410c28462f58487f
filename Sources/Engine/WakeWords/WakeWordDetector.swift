/// Finds wake words in one stream of samples: one front end for all words, a network and a window of probabilities for each.
///
/// It has no clock: time is counted in hops of 10 ms. After `init`, nothing allocates.
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
    ///   - report: called after each step of each word, with the index of the word, the mean of its newest probabilities and the number of
    ///     samples since the start at the end of the step. The mean is 0 until the window is full.
    public mutating func add(_ new: Span<Float>, report: (_ word: Int, _ mean: Float, _ samples: Int) -> Void) {
        for index in new.indices {
            // As files of 16 bits store them; what is not a number counts as silence.
            let scaled = (new[index] * 32768).rounded(.toNearestOrEven)
            let sample = scaled.isNaN ? 0 : Int16(min(max(scaled, -32768), 32767))
            samples += 1
            guard frontEnd.add(sample) else { continue }
            for word in words.indices {
                if let mean = streams.add(frontEnd.features, word: word) { report(word, mean, samples) }
            }
        }
    }

    /// Resets to the state before the first sample, for example after a gap; the count of samples goes on.
    public mutating func flush() {
        frontEnd.reset()
        streams.flush()
    }

    /// The streams of the words. A class, because an array cannot hold what is not copyable.
    private final class Streams {
        private let streams: [Stream]

        init(_ words: [WakeWord]) { streams = words.map(Stream.init) }

        func add(_ features: [UInt16], word: Int) -> Float? { streams[word].add(features) }

        func flush() { for stream in streams { stream.flush() } }
    }
}

/// A word in a stream.
private final class Stream {
    private let network: NetworkStream
    /// Hops of the next step that are there.
    private var hops = 0
    /// Ring of the newest probabilities.
    private var probabilities: [Float]
    private var next = 0
    private var count = 0

    init(_ word: WakeWord) {
        network = NetworkStream(word.network)
        probabilities = [Float](repeating: 0, count: word.manifest.windowSteps)
    }

    /// Adds a hop.
    ///
    /// - Returns: the mean of the newest probabilities, if a step was computed.
    func add(_ features: [UInt16]) -> Float? {
        network.put(features, hop: hops)
        hops += 1
        guard hops == network.network.hopsPerStep else { return nil }
        hops = 0
        probabilities[next] = network.run()
        next = next + 1 == probabilities.count ? 0 : next + 1
        count = min(count + 1, probabilities.count)
        guard count == probabilities.count else { return 0 }
        var sum = 0.0
        for index in probabilities.indices { sum += Double(probabilities[index]) }
        return Float(sum / Double(count))
    }

    func flush() {
        network.reset()
        hops = 0
        next = 0
        count = 0
    }
}
