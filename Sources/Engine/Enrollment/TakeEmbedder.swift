import Audio
import Inference
import Spotting
private import WakeWords

/// Computes the templates of an utterance: embeddings at its end and before it.
struct TakeEmbedder: ~Copyable {
    /// Ends of the windows that are averaged, in seconds after the end of the speech: a detector's hop may end anywhere
    /// in this range.
    private static let ends = [0.05, 0.125, 0.2]
    /// Speeds at which the utterance is embedded; its pitch stays. Their mean is nearer than the utterance itself to how others say the
    /// word: with five takes of others 0.9 % more of real people's words are found in mode `command`, and as many in `spot` with a sixth
    /// fewer false accepts, over the ten words on which the speeds were chosen.
    private static let speeds = [0.8, 1, 1.25]
    /// Least seconds from the beginning of the speech to the first hop of a sequence, and from its end to the last. A window says little
    /// about a word of which it holds less.
    private static let (sequenceBegin, sequenceEnd) = (0.2, 0.15)
    /// Seconds from the end of the speech to the last speech frame.
    private static let speechEnd = 0.2
    /// Letters of a single word that is hardly longer than a window.
    private static let longestWord = 12
    /// Part of a long phrase that lies in the earlier window, in seconds.
    private static let firstPart = 0.8

    private let model: Model
    private var stream: InferenceStream

    init(_ model: Model) {
        self.model = model
        stream = InferenceStream(model, embeds: true)
    }

    /// Hops between the two templates, ``TemplateAlignment/spacingOfWord`` for a word, more for a long phrase.
    ///
    /// - Parameters:
    ///   - seconds: duration of the speech.
    ///   - name: a short one of a single word is no phrase: where its take is long, there is noise before or after it.
    static func templateSpacing(seconds: Double, name: String, _ model: Model) -> Int {
        if PhraseParts.gaps(in: name).isEmpty, name.count <= longestWord { return TemplateAlignment.spacingOfWord }
        let hops = (seconds - firstPart) / HopScorer.hopSeconds(of: model)
        return min(max(TemplateAlignment.spacingOfWord, Int(hops.rounded())), TemplateAlignment.longestReach - 2)
    }

    /// Unit vectors, `[1 or 2 × dimensions]`: the template at the speech's end and, unless `spacing` is 0, the one
    /// `spacing` hops before. Each is the mean over three windows, which end 50, 125 and 200 ms after its position, at three speeds.
    mutating func templates(of utterance: Utterance, spacing: Int) -> [[Float]] {
        var quiet = QuietNoise(level: UtteranceSegmenter.noiseFloor(utterance.samples))
        let lead = model.windowSamples + spacing * model.hopSamples
        let (said, margin) = said(utterance)
        var sums = [[Float]](repeating: [Float](repeating: 0, count: model.embeddingCount), count: spacing > 0 ? 2 : 1)
        for speed in Self.speeds {
            let audio = quiet.samples(lead) + said.stretched(speed: speed) + quiet.samples(model.windowSamples)
            let end = lead + Int(Double(margin + utterance.speech.count) / speed)
            for index in sums.indices {
                for seconds in Self.ends {
                    let place = end + self.seconds(seconds) - index * spacing * model.hopSamples
                    stream.scoreWhole(window: audio.span.extracting(place - model.windowSamples..<place))
                    for (dimension, value) in unit(stream.embedding).enumerated() { sums[index][dimension] += value }
                }
            }
        }
        return sums.map(unit)
    }

    /// The embeddings from the word's beginning to its end, hop by hop, `[hops × dimensions]`: unit vectors, the last 150 ms after the end
    /// of the speech, the first at least 200 ms after its beginning, ``TaughtWord/mostHops`` at most.
    mutating func sequence(of utterance: Utterance) -> [[Float]] {
        var quiet = QuietNoise(level: UtteranceSegmenter.noiseFloor(utterance.samples))
        let lead = model.windowSamples
        let (said, margin) = said(utterance)
        let audio = quiet.samples(lead) + Array(said) + quiet.samples(model.windowSamples)
        let begin = lead + margin + seconds(Self.sequenceBegin)
        let end = lead + margin + utterance.speech.count + seconds(Self.sequenceEnd)
        let places = stride(from: end, through: min(begin, end), by: -model.hopSamples).prefix(TaughtWord.mostHops)
        return places.reversed().map { place in
            stream.scoreWhole(window: audio.span.extracting(place - model.windowSamples..<place))
            return unit(stream.embedding)
        }
    }

    /// The speech embedding from the word's beginning to its end, frame by frame, `[frames × SpeechEmbedding.count]`: unit vectors, the last
    /// 200 ms after the end of the speech, ``SpeechTakes/mostFrames`` at most; empty where the embedding did not come with the program.
    func speech(of utterance: Utterance) -> [[Float]] {
        guard let embedding = SpeechEmbedding.ofTakes else { return [] }
        let count = min(utterance.speech.count / SpeechEmbedding.hopSamples + 2, SpeechTakes.mostFrames)
        let frames = SpeechFrames(embedding, count: count)
        var quiet = QuietNoise(level: UtteranceSegmenter.noiseFloor(utterance.samples))
        let (said, margin) = said(utterance)
        let needed = SpeechFrames.samples(frames: count)
        let audio = quiet.samples(needed) + Array(said) + quiet.samples(seconds(Self.speechEnd))
        let end = needed + margin + utterance.speech.count + seconds(Self.speechEnd)
        audio[end - needed..<end].withUnsafeBufferPointer { frames.compute($0) }
        return (0..<count).map { frame in
            unit(Array(frames.frames[frame * SpeechEmbedding.count..<(frame + 1) * SpeechEmbedding.count]))
        }
    }

    /// What is said, with up to 100 ms before it. Noise replaces the audio further before, so that the embeddings do not depend on it.
    private func said(_ utterance: Utterance) -> (samples: ArraySlice<Float>, margin: Int) {
        let margin = min(utterance.speech.lowerBound, seconds(0.1))
        return (utterance.samples[(utterance.speech.lowerBound - margin)...], margin)
    }

    private func seconds(_ duration: Double) -> Int { Int(duration * Double(model.sampleRate)) }
}

extension TakeEmbedder {
    /// A take of a word or phrase.
    ///
    /// - Parameter keepsAudio: whether to keep its recording.
    mutating func take(of utterance: Utterance, name: String, spacing: Int, keepsAudio: Bool) -> WordStore.Take {
        WordStore.Take(
            templates: templates(of: utterance, spacing: spacing),
            templateSpacing: spacing,
            audio: keepsAudio ? utterance.pcm : [],
            parts: parts(of: utterance, name: name, spacing: spacing),
            sequence: sequence(of: utterance),
            speech: speech(of: utterance)
        )
    }

    /// The embeddings of a recording at every hop, as a detector computes them: unit vectors, `[hops × dimensions]`.
    mutating func hops(of audio: [Int16]) -> [[Float]] {
        let samples = audio.map(Float.init(sample:))
        var quiet = QuietNoise(level: UtteranceSegmenter.noiseFloor(samples))
        let padded = quiet.samples(model.windowSamples) + samples + quiet.samples(model.windowSamples / 4)
        return stride(from: model.windowSamples, through: padded.count, by: model.hopSamples).map { end in
            stream.scoreWhole(window: padded.span.extracting(end - model.windowSamples..<end))
            return unit(stream.embedding)
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
