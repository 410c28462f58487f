public import Audio
private import Core
private import Inference

/// Scores clips of about a second, one vector of posteriors each, as `classify --clips` and `evaluate` do.
///
/// The network scores a word of a stream in many windows, but a clip in one, in which the end of the word may be cut
/// off. So the clip is rotated by four offsets from −20 to 100 ms, and the four posterior vectors are averaged. On the
/// validation words this gives half a percentage point more accuracy than one pass. Networks that confirm then look at the clip.
public struct ClipScorer: ~Copyable {
    /// Rotations of the window, in samples.
    private static let timeShifts = [-320, 320, 960, 1600]
    /// Seconds from a file's start in which the loudest second is searched.
    private static let longestClip = 600.0

    private let vocabulary: Vocabulary
    private var session: InferenceStream
    private var taught: ClipTaughtWordScorer?
    private let wakeWords: ClipWakeWordScorer?
    private let confirmer: Confirmer?
    /// A clip that is silence with this posterior is not looked at.
    private static let silent: Float = 0.98

    public init(_ vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
        session = InferenceStream(vocabulary.model, prior: .clip)
        taught = vocabulary.taught.isEmpty ? nil : ClipTaughtWordScorer(vocabulary)
        wakeWords = ClipWakeWordScorer(vocabulary)
        let model = vocabulary.model
        confirmer = model.confirmation.map { Confirmer($0, of: model, prior: .clip) }
    }

    /// Scores the loudest second of a file's first ten minutes.
    ///
    /// - Returns: posteriors, `[labels]` of the vocabulary, and the length of the audio read, in seconds.
    /// - Throws: what opening and reading the file throw.
    public mutating func score(
        file: String,
        mix: ChannelMix
    ) throws(AudioError) -> (posteriors: [Float], seconds: Double) {
        let samples = try FileBlocks.readClip(path: file, atMost: Self.longestClip, mix: mix)
        return (score(clip: samples), Double(samples.count) / Double(AudioFormat.sampleRate))
    }

    /// Scores the loudest second of a clip.
    ///
    /// - Parameter clip: samples at 16 kHz, any number.
    /// - Returns: posteriors, `[labels]` of the vocabulary.
    public mutating func score(clip: [Float]) -> [Float] {
        let model = vocabulary.model
        let start = Self.loudestStart(of: clip, window: model.windowSamples, hop: model.hopSamples)
        return score(window: Self.window(of: clip, from: start, length: model.windowSamples), of: clip, from: start)
    }

    /// Scores one window.
    ///
    /// - Parameter window: `[windowSamples]` at 16 kHz.
    /// - Returns: posteriors, `[labels]` of the vocabulary.
    public mutating func score(window: [Float]) -> [Float] { score(window: window, of: window, from: 0) }

    /// - Parameters:
    ///   - clip: what the window is part of: the networks that confirm hear what is around it.
    ///   - start: sample of the clip at which the window begins; negative for a short clip.
    private mutating func score(window: [Float], of clip: [Float], from start: Int) -> [Float] {
        var mean = [Float](repeating: 0, count: vocabulary.model.labels.count)
        var contrast: Float = 0
        let share = 1 / Float(Self.timeShifts.count)
        for shift in Self.timeShifts {
            let first = shift < 0 ? window.count + shift : shift
            let rotated = Array(window.dropFirst(first) + window.prefix(first))
            session.scoreWhole(window: rotated.span)
            for (index, posterior) in session.posteriors.enumerated() { mean[index] += posterior * share }
            contrast += session.clipContrast * share
        }
        confirm(&mean, contrast: contrast) { first, target in
            for index in target.indices {
                let place = start + first + index
                target[index] = clip.indices.contains(place) ? clip[place] : 0
            }
        }
        let probabilities = taught?.score(window)
        guard probabilities != nil || wakeWords != nil else { return mean }
        var fused = vocabulary.fused(mean, probabilities ?? [])
        wakeWords?.fuse(clip, into: &fused)
        return fused
    }

    /// Fuses posteriors, `[model's labels]`, with the answers of the networks that confirm. Silence stays as it is; what is neither
    /// silence nor a word that they know keeps its parts.
    ///
    /// - Parameter contrast: how far something stands out of the background, in dB.
    private func confirm(
        _ posteriors: inout [Float],
        contrast: Float,
        read: (_ first: Int, UnsafeMutableBufferPointer<Float>) -> Void
    ) {
        let silence = vocabulary.model.silenceIndex
        let sound = 1 - posteriors[silence]
        guard let confirmer, posteriors[silence] < Self.silent, sound > 0 else { return }
        let words = confirmer.networks.words
        var heard = posteriors.map { $0 / sound }
        heard[silence] = 0
        confirmer.look(heard, middle: vocabulary.model.windowSamples / 2, contrast: contrast, read: read)
        let other = sound - words.reduce(0) { $0 + posteriors[$1] }
        let factor = other > 0 ? sound * confirmer.fused[words.count] / other : 0
        for label in posteriors.indices where label != silence { posteriors[label] *= factor }
        for (index, word) in words.enumerated() { posteriors[word] = sound * confirmer.fused[index] }
    }

    /// One window of a clip: a short clip centred in silence, or the hop-aligned window of highest energy of a long
    /// one.
    ///
    /// - Parameters:
    ///   - length: samples of the window.
    ///   - hop: samples between two candidates.
    public static func loudestWindow(of samples: [Float], length: Int, hop: Int) -> [Float] {
        window(of: samples, from: loudestStart(of: samples, window: length, hop: hop), length: length)
    }

    private static func window(of samples: [Float], from start: Int, length: Int) -> [Float] {
        guard samples.count < length else { return Array(samples[start..<start + length]) }
        var window = [Float](repeating: 0, count: length)
        window.replaceSubrange(-start..<samples.count - start, with: samples)
        return window
    }

    /// The sample at which that window begins; negative for a short clip.
    private static func loudestStart(of samples: [Float], window length: Int, hop: Int) -> Int {
        guard samples.count > length else { return -((length - samples.count) / 2) }
        var best = (start: 0, energy: -Float.infinity)
        for start in stride(from: 0, through: samples.count - length, by: hop) {
            var energy: Float = 0
            for sample in samples[start..<start + length] { energy += sample * sample }
            if energy > best.energy { best = (start, energy) }
        }
        return best.start
    }
}

/// The probability that each of the taught words is said anywhere in a clip: the highest that it has in a stream, after a second look.
public struct ClipTaughtWordScorer: ~Copyable {
    /// Hops of silence after the clip, in which a word at its end is decided.
    private static let hopsAfter = 4
    /// Second looks at a word in a clip.
    private static let mostLooks = 3

    private let vocabulary: Vocabulary
    private var session: InferenceStream
    private var scorer: TaughtWordScorer
    private let look: TaughtWordLook?
    private let labels: [Int]

    public init(_ vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
        session = InferenceStream(vocabulary.model, embeds: true)
        scorer = TaughtWordScorer(vocabulary)
        look = TaughtWordLook(vocabulary)
        labels = vocabulary.fusion.wordLabels
    }

    /// - Parameter clip: samples at the model's rate.
    /// - Returns: probabilities, `[taught words]` of the vocabulary.
    public mutating func score(_ clip: [Float]) -> [Float] {
        let model = vocabulary.model
        let (window, hop) = (model.windowSamples, model.hopSamples)
        let rest = (hop - clip.count % hop) % hop
        let audio =
            [Float](repeating: 0, count: window) + clip + [Float](repeating: 0, count: rest + Self.hopsAfter * hop)
        session.reset()
        scorer.flush()
        var hops: [[Hop]] = scorer.probabilities.map { _ in [] }
        for end in stride(from: window + hop, through: audio.count, by: hop) {
            session.score(window: audio.span.extracting(end - window..<end))
            scorer.add(session.embedding)
            for index in hops.indices {
                hops[index].append((end, scorer.probabilities[index], scorer.partMargins[index]))
            }
        }
        return hops.indices.map { highest(of: $0, hops[$0], in: audio) }
    }

    /// A word at the hop that ends with a sample.
    typealias Hop = (end: Int, probability: Float, partMargin: PartMargin)

    /// The highest probability of a word after second looks, at the hops where it is likeliest by its templates; 0 where it is proposed
    /// at none.
    private func highest(of index: Int, _ hops: [Hop], in audio: [Float]) -> Float {
        guard let look, let speech = vocabulary.taught[index].speech else { return hops.map(\.probability).max() ?? 0 }
        let proposed = Self.proposed(hops, from: speech.proposal)
        return proposed.sorted { $0.probability > $1.probability }.prefix(Self.mostLooks).map { hop in
            let word = ProposedWord(
                label: labels[index],
                score: hop.probability,
                middle: hop.end,
                end: hop.end,
                hops: 1,
                partMargin: hop.partMargin
            )
            let verdict = look.look(word) { first, target in
                for place in target.indices {
                    target[place] = audio.indices.contains(first + place) ? audio[first + place] : 0
                }
            }
            return verdict?.confidence ?? hop.probability
        }.max() ?? 0
    }

    /// The hops with at least a probability. All of an unbroken run have the margin of its likeliest hop, as a candidate has in a stream.
    static func proposed(_ hops: [Hop], from least: Float) -> [Hop] {
        hops.split { $0.probability < least }.flatMap { run in
            var margin = CandidateMargin()
            for hop in run { margin.note(hop.partMargin, score: hop.probability, firstHop: run.startIndex) }
            return run.map { Hop($0.end, $0.probability, margin.partMargin) }
        }
    }
}

/// The scores of wake words with models of their own in a clip: the highest that each has in a stream.
struct ClipWakeWordScorer {
    private let stream: WakeWordStream
    private let labels: [Int]
    /// In which a word at the end of a clip is decided.
    private let silence = [Float](repeating: 0, count: AudioFormat.sampleRate)

    /// - Returns: nil without wake words.
    init?(_ vocabulary: Vocabulary) {
        guard let stream = WakeWordStream(vocabulary.wakeWords) else { return nil }
        self.stream = stream
        labels = vocabulary.wakeWordLabels
    }

    /// Sets the scores of the wake words; the other labels share what the highest leaves of 1.
    ///
    /// - Parameters:
    ///   - clip: samples at 16 kHz.
    ///   - posteriors: `[labels]` of the vocabulary.
    func fuse(_ clip: [Float], into posteriors: inout [Float]) {
        var best = [Float](repeating: 0, count: labels.count)
        stream.flush()
        for part in [clip, silence] {
            stream.add(hop: part.span) { word, score, _ in best[word] = max(best[word], score) }
        }
        let rest = 1 - min(best.max() ?? 0, 1)
        for label in posteriors.indices { posteriors[label] *= rest }
        for (label, score) in zip(labels, best) { posteriors[label] = score }
    }
}
