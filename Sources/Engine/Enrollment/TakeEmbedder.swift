import Audio
import Inference
import Spotting

/// Computes the templates of an utterance: embeddings at its end and before it.
struct TakeEmbedder: ~Copyable {
    /// Ends of the windows that are averaged, in seconds after the end of the speech: a detector's hop may end anywhere
    /// in this range.
    private static let ends = [0.05, 0.125, 0.2]
    /// Speeds at which the utterance is embedded; its pitch stays. Their mean is nearer than the utterance itself to how others say the
    /// word: with five takes of others 0.9 % more of real people's words are found in mode `command`, and as many in `spot` with a sixth
    /// fewer false accepts, over the ten words on which the speeds were chosen.
    private static let speeds = [0.8, 1, 1.25]
    /// Part of a long phrase that lies in the earlier window, in seconds.
    private static let firstPart = 0.8

    private let model: Model
    private var session: InferenceStream

    init(_ model: Model) {
        self.model = model
        session = InferenceStream(model, embeds: true)
    }

    /// Hops between the two templates, ``TemplateAlignment/spacingOfWord`` for a word, more for a long phrase.
    ///
    /// - Parameter seconds: duration of the speech.
    static func templateSpacing(seconds: Double, _ model: Model) -> Int {
        let hops = (seconds - firstPart) / HopScorer.hopSeconds(of: model)
        return min(max(TemplateAlignment.spacingOfWord, Int(hops.rounded())), TemplateAlignment.longestReach - 2)
    }

    /// Unit vectors, `[1 or 2 × dimensions]`: the template at the speech's end and, unless `spacing` is 0, the one
    /// `spacing` hops before. Each is the mean over three windows, which end 50, 125 and 200 ms after its position, at three speeds.
    mutating func templates(of utterance: Utterance, spacing: Int) -> [[Float]] {
        // Noise replaces the audio before the word, so that templates do not depend on it.
        let margin = min(utterance.speech.lowerBound, Int(0.1 * Double(model.sampleRate)))
        var quiet = QuietNoise(level: UtteranceSegmenter.noiseFloor(utterance.samples))
        let lead = model.windowSamples + spacing * model.hopSamples
        let said = utterance.samples[(utterance.speech.lowerBound - margin)...]
        var sums = [[Float]](repeating: [Float](repeating: 0, count: model.embeddingCount), count: spacing > 0 ? 2 : 1)
        for speed in Self.speeds {
            let audio = quiet.samples(lead) + said.stretched(speed: speed) + quiet.samples(model.windowSamples)
            let end = lead + Int(Double(margin + utterance.speech.count) / speed)
            for index in sums.indices {
                for seconds in Self.ends {
                    let place = end + Int(seconds * Double(model.sampleRate)) - index * spacing * model.hopSamples
                    session.scoreWhole(window: audio.span.extracting(place - model.windowSamples..<place))
                    for (dimension, value) in unit(session.embedding).enumerated() { sums[index][dimension] += value }
                }
            }
        }
        return sums.map(unit)
    }
}

extension TakeEmbedder {
    /// The embeddings of a recording at every hop, as a detector computes them: unit vectors, `[hops × dimensions]`.
    mutating func hops(of audio: [Int16]) -> [[Float]] {
        let samples = audio.map(Float.init(sample:))
        var quiet = QuietNoise(level: UtteranceSegmenter.noiseFloor(samples))
        let padded = quiet.samples(model.windowSamples) + samples + quiet.samples(model.windowSamples / 4)
        return stride(from: model.windowSamples, through: padded.count, by: model.hopSamples).map { end in
            session.scoreWhole(window: padded.span.extracting(end - model.windowSamples..<end))
            return unit(session.embedding)
        }
    }
}

/// The vector scaled to length 1; zeros if it is zero or not finite.
func unit(_ vector: [Float]) -> [Float] {
    let square = vector.reduce(0) { $0 + $1 * $1 }
    guard square > 0, square.isFinite else { return vector.map { _ in 0 } }
    let scale = 1 / square.squareRoot()
    return vector.map { $0 * scale }
}

/// The mean of vectors of one length, scaled to length 1; empty without vectors.
func unitMean(of vectors: [[Float]]) -> [Float] {
    guard var sum = vectors.first else { return [] }
    for vector in vectors.dropFirst() { for index in sum.indices { sum[index] += vector[index] } }
    return unit(sum)
}

/// The dot product; the cosine for unit vectors.
func dot(_ left: [Float], _ right: [Float]) -> Float { zip(left, right).reduce(0) { $0 + $1.0 * $1.1 } }
