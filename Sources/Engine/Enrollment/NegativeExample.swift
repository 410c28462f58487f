private import Audio
private import Core
public import Inference
import Spotting

extension WordStore {
    /// A recording in which a word was found by mistake.
    public struct Negative: Sendable, Equatable {
        /// What the word's templates are compared with, at the hops where the recording is most similar to the word: unit vectors,
        /// `[hops × templates × dimensions]`.
        public var moments: [[[Float]]]
        /// The recording, mono at 16 kHz; empty unless the user keeps recordings.
        public var audio: [Int16] = []
    }
}

/// What a negative example changed: probabilities of the word, 0…1, the highest in each recording.
public struct NegativeEffect: Sendable, Equatable {
    /// In the recording, before and after.
    public let before: Float
    public let after: Float
    /// In the take that is most like the recording, afterwards.
    public let lowestTake: Float
}

extension WordStore.Word {
    /// Most moments of a recording; those within `nearBest` of the most similar one.
    private static let mostMoments = WordStore.Limit.moments
    private static let nearBest: Float = 0.15

    /// Makes a recording a negative example: from now on the word is not found where the audio is more like this recording than like
    /// the takes.
    ///
    /// - Parameters:
    ///   - samples: `[samples]` at 16 kHz, full scale 1.
    ///   - keepsAudio: whether to keep the recording, so that another model can learn it.
    ///   - model: the model of the word's templates.
    /// - Throws: ``EnrollmentError/negative`` if the word is not found in the recording, or if it could not be told from the takes: some
    ///   take would not be found any more, or the recording still would. Nothing has changed then.
    public mutating func addNegative(
        _ samples: [Float],
        keepsAudio: Bool,
        model: Model
    ) throws(EnrollmentError) -> NegativeEffect {
        guard negatives.count < WordStore.Limit.negatives else {
            throw .negative.saying(
                "'\(name)' has \(negatives.count) negative examples, which is the limit; teach it anew, with other takes"
            )
        }
        guard samples.count <= WordStore.Limit.audio else {
            throw .negative.saying(
                "a negative example lasts at most \(WordStore.Limit.audio / Utterance.sampleRate) s; cut it"
            )
        }
        let audio = samples.map(Int16.init(sample:))
        var embedder = TakeEmbedder(model)
        let phases = embedder.phases(of: audio)
        guard let old = taught else { throw .negative.saying("'\(name)' has no takes; teach it first") }
        let before = old.highestProbability(in: samples, model)
        guard before >= 0.2 else {
            throw .negative.saying(
                "'\(name)' is not found in this recording: its score is \(Self.text(before)) at most; nothing was changed"
            )
        }
        var changed = self
        changed.negatives.append(
            WordStore.Negative(moments: moments(in: phases), audio: keepsAudio ? audio : [])
        )
        guard let new = changed.taught else { throw .negative.saying("'\(name)' has no takes; teach it first") }
        let after = new.highestProbability(in: samples, model)
        guard after < threshold else {
            throw tooAlike("it would still be found (\(Self.text(after)))")
        }
        var lowest: Float = 1
        var lost = 0
        for take in takes {
            let (kept, was) = (new.probability(of: take, model), old.probability(of: take, model))
            lowest = min(lowest, kept)
            if kept < threshold, was >= threshold { lost += 1 }
        }
        guard lost == 0 else {
            throw tooAlike("\(lost) of \(counted(takes.count, "take")) would not be found any more")
        }
        self = changed
        return NegativeEffect(before: before, after: after, lowestTake: lowest)
    }

    private func tooAlike(_ effect: String) -> EnrollmentError {
        func text(_ command: String) -> String {
            "this recording is so like the takes of '\(name)' that \(effect); raise the threshold\(command), or choose another word; nothing "
                + "was changed"
        }
        return .negative.saying(text(": beckon set \(ShellWord.quoted("\(name)=…"))"), plain: text(""))
    }

    /// Removes a negative example: what is like it may be found as the word again.
    ///
    /// - Parameter number: from 1 on, in the order in which they were added.
    /// - Throws: ``EnrollmentError/negative`` if there is none of this number.
    public mutating func removeNegative(_ number: Int) throws(EnrollmentError) {
        guard number >= 1, number <= negatives.count else {
            let known = negatives.isEmpty ? "it has none" : "it has \(negatives.count), from 1 on"
            throw .negative.saying("'\(name)' has no negative example \(number); \(known)")
        }
        negatives.remove(at: number - 1)
    }

    /// The moments of a recording that are most similar to the word.
    ///
    /// - Parameter phases: embeddings at every hop, for several positions of the hops in the recording.
    func moments(in phases: [[[Float]]]) -> [[[Float]]] {
        let (prototype, alignment) = (prototype, alignment)
        var found: [(similarity: Float, moment: [[Float]])] = []
        for hops in phases {
            for hop in hops.indices {
                let ages = prototype.indices.map { hop - $0 * alignment.spacing }
                guard ages.allSatisfy(hops.indices.contains) else { continue }
                let similarity = alignment.similarity { template, age in
                    hops.indices.contains(hop - age) ? dot(prototype[template], hops[hop - age]) : 0
                }
                found.append((similarity, ages.map { hops[$0] }))
            }
        }
        found.sort { $0.similarity > $1.similarity }
        let least = (found.first?.similarity ?? 0) - Self.nearBest
        return found.prefix(Self.mostMoments).filter { $0.similarity >= least }.map(\.moment)
    }

    /// The same negative examples for another model, as far as they have recordings.
    func renewedNegatives(_ embedder: inout TakeEmbedder, of old: [WordStore.Negative]) -> [WordStore.Negative] {
        old.filter { !$0.audio.isEmpty }.map { negative in
            WordStore.Negative(moments: moments(in: embedder.phases(of: negative.audio)), audio: negative.audio)
        }
    }

    private static func text(_ probability: Float) -> String { "\(Int((probability * 100).rounded())) %" }
}

extension TakeEmbedder {
    /// The embeddings of a recording at every hop, for two positions of the hops: a detector's may lie anywhere.
    mutating func phases(of audio: [Int16]) -> [[[Float]]] {
        [hops(of: audio), hops(of: Array(audio.dropFirst(800)))]
    }
}

extension TaughtWord {
    /// The word's highest probability in a recording, as a detector computes it, whose hops may lie anywhere.
    ///
    /// - Parameter samples: `[samples]` at 16 kHz, full scale 1.
    func highestProbability(in samples: [Float], _ model: Model) -> Float {
        var scorer = ClipWordScorer(Vocabulary(model, taught: [self], speech: speech.flatMap { _ in .ofTakes }))
        var quiet = QuietNoise(level: UtteranceSegmenter.noiseFloor(samples))
        let (lead, rest) = (quiet.samples(model.windowSamples), quiet.samples(model.windowSamples / 4))
        return [0, model.hopSamples / 2].flatMap { first in
            // A word of the model in the user's voice has the first score too.
            scorer.score(lead + samples.dropFirst(first) + rest)
        }.max() ?? 0
    }

    /// The word's highest probability in a take: in its recording, or by its templates where there is none.
    fileprivate func probability(of take: WordStore.Take, _ model: Model) -> Float {
        guard take.audio.isEmpty else { return highestProbability(in: take.audio.map(Float.init(sample:)), model) }
        guard take.templates.count == templates.count else { return 0 }
        func mean(_ vectors: [[Float]]) -> Float {
            alignment.mean { dot(vectors[$0], take.templates[$0]) }
        }
        let similarity = similarity(mean(templates), besides: negatives.map(mean).max() ?? -1)
        return Self.probability(margin: similarity - boundary)
    }
}
