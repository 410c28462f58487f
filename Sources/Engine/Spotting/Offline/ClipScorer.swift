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
    /// The words beside the model's: those that go through the gate, and those that fire by themselves.
    private var words: ClipWordScorer?
    private var rising: WordScorers
    private let confirmer: Confirmer?
    /// A clip that is silence with this posterior is not looked at.
    private static let silent: Float = 0.98

    public init(_ vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
        session = InferenceStream(vocabulary.model, prior: .clip)
        words = vocabulary.fusion.wordLabels.isEmpty ? nil : ClipWordScorer(vocabulary)
        rising = WordScorers(vocabulary, only: .rising)
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
        let probabilities = words?.score(window)
        guard probabilities != nil || !vocabulary.risingLabels.isEmpty else { return mean }
        var fused = vocabulary.fused(mean, probabilities ?? [])
        if !vocabulary.risingLabels.isEmpty { fuseRising(clip, into: &fused) }
        return fused
    }

    /// Sets the scores of the words that fire by themselves, each the highest that it has in a stream; the other labels share what the
    /// highest leaves of 1.
    private mutating func fuseRising(_ clip: [Float], into posteriors: inout [Float]) {
        // A word at the end of a clip is decided in a second of silence.
        let audio = clip + [Float](repeating: 0, count: AudioFormat.sampleRate)
        var best = [Float](repeating: 0, count: vocabulary.risingLabels.count)
        rising.flush()
        for start in stride(from: 0, to: audio.count, by: AudioFormat.hopSamples) {
            let end = min(start + AudioFormat.hopSamples, audio.count)
            rising.add(hop: audio.span.extracting(start..<end), logits: [], embedding: [])
            for step in rising.scores.steps { best[step.word] = max(best[step.word], step.score) }
        }
        let rest = 1 - min(best.max() ?? 0, 1)
        // One with takes too has a score by these.
        for index in best.indices { best[index] = max(best[index], posteriors[vocabulary.risingLabels[index]]) }
        for label in posteriors.indices { posteriors[label] *= rest }
        for (label, score) in zip(vocabulary.risingLabels, best) { posteriors[label] = score }
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

/// The probability that each word beside the model's, which goes through the gate, is said anywhere in a clip: the highest that it has in a
/// stream, after second looks.
public struct ClipWordScorer: ~Copyable {
    /// Hops of silence after the clip, in which a word at its end is decided.
    private static let hopsAfter = 4
    /// Second looks at a word in a clip.
    private static let mostLooks = 3

    private let vocabulary: Vocabulary
    private var session: InferenceStream
    private var scorers: WordScorers
    private let looks: WordLooks
    /// The least probability that is looked at, `[words]`; nil for a word that is not.
    private let proposals: [Float?]

    public init(_ vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
        session = InferenceStream(vocabulary.model, embeds: vocabulary.embeds)
        scorers = WordScorers(vocabulary, only: .gate)
        looks = WordLooks(vocabulary, ofModel: false)
        proposals = vocabulary.kinds.filter { $0.rule == .gate }.flatMap { kind in
            kind.names.indices.map { kind.proposal(of: $0) }
        }
    }

    /// - Parameter clip: samples at the model's rate.
    /// - Returns: probabilities, `[words]` in the order of the vocabulary's kinds.
    public mutating func score(_ clip: [Float]) -> [Float] {
        let model = vocabulary.model
        let (window, hop) = (model.windowSamples, model.hopSamples)
        let rest = (hop - clip.count % hop) % hop
        let audio =
            [Float](repeating: 0, count: window) + clip + [Float](repeating: 0, count: rest + Self.hopsAfter * hop)
        session.reset()
        scorers.flush()
        var hops: [[Hop]] = proposals.map { _ in [] }
        for end in stride(from: window + hop, through: audio.count, by: hop) {
            session.score(window: audio.span.extracting(end - window..<end))
            scorers.add(
                hop: audio.span.extracting(end - hop..<end),
                logits: session.activity,
                embedding: vocabulary.embeds ? session.embedding : []
            )
            let scores = scorers.scores
            for word in hops.indices { hops[word].append((end, scores.probabilities[word], scores.partMargins[word])) }
        }
        return hops.indices.map { highest(of: $0, hops[$0], in: audio) }
    }

    /// A word at the hop that ends with a sample.
    typealias Hop = (end: Int, probability: Float, partMargin: PartMargin)

    /// The highest probability of a word after second looks, at the hops where its first score is highest; 0 where it is proposed at
    /// none.
    private func highest(of word: Int, _ hops: [Hop], in audio: [Float]) -> Float {
        guard let proposal = proposals[word] else { return hops.map(\.probability).max() ?? 0 }
        let proposed = Self.proposed(hops, from: proposal)
        return proposed.sorted { $0.probability > $1.probability }.prefix(Self.mostLooks).map { hop in
            let said = ProposedWord(
                label: vocabulary.fusion.wordLabels[word],
                score: hop.probability,
                middle: hop.end,
                end: hop.end,
                hops: 1,
                partMargin: hop.partMargin
            )
            return looks.look(said, []) { first, target in
                for place in target.indices {
                    target[place] = audio.indices.contains(first + place) ? audio[first + place] : 0
                }
            }.confidence
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
