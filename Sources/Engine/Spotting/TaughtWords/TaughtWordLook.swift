private import Glibc
import WakeWords

/// The second look at taught words: aligns the newest frames of the speech embedding with each take of a word.
///
/// Several streams may share it, one at a time. After `init`, nothing allocates.
final class TaughtWordLook: WordLook {
    private static let lanes = UnitVector.lanes(of: SpeechEmbedding.count)
    /// Probabilities whose logarithms are taken.
    private static let range: ClosedRange<Float> = 1e-4...1 - 1e-6
    /// A frame is of what was said so many samples before its end, in the middle of its window.
    private static let middleOfFrame = 6200
    /// How far before the gap between words the first of them is heard, in samples, and in how much audio its level is compared.
    private static let (beforeGap, recent) = (1280..<5120, 24_000)
    /// The mean distance of what is before the first gap below which it adds to the margin, and how much a unit of it adds. Chosen by
    /// "smart mirror" by real people, and by "computer" and "mirror" by them after other words: 0.18 with 2 is alike.
    private static let (nearFirst, gainOfFirst): (Float, Float) = (0.16, 3)

    private struct Word {
        let boundary: Float
        let speechBoundary: Float
        let firstGap: Float?
        /// Which of `takes` are its own.
        let takes: Range<Int>
    }

    /// How takes are aligned with the newest frames, or the mean of some.
    private struct Alignment {
        /// The mean distance of its frames, and of those up to the first gap between words, 0…2.
        var distance: Float = 0
        var distanceOfFirst: Float = 0
        /// The frame at which that gap lies.
        var gap: Float = 0

        mutating func add(_ other: Alignment, of count: Int) {
            distance += other.distance / Float(count)
            distanceOfFirst += other.distanceOfFirst / Float(count)
            gap += other.gap / Float(count)
        }
    }

    /// By label; nil for a label that is not looked at.
    private let words: [Word?]
    /// Of each take the first of its lanes, and its frames.
    private let takes: [(start: Int, frames: Int)]
    /// Unit vectors, `[frames × lanes]`.
    private let vectors: [Lanes]
    private let frames: SpeechFrames
    /// The newest frames as unit vectors, `[frames × lanes]`.
    private var newest: [Lanes]
    private let samples: UnsafeMutableBufferPointer<Float>
    private var levels: SoundLevels

    /// - Returns: nil where no word is looked at.
    init?(_ lookedAt: [(label: Int, word: TaughtWord)], _ embedding: SpeechEmbedding) {
        var words = [Word?](repeating: nil, count: (lookedAt.map(\.label).max() ?? 0) + 1)
        var (takes, vectors): ([(Int, Int)], [Lanes]) = ([], [])
        var longest = 0
        for (label, word) in lookedAt {
            guard let speech = word.speech else { continue }
            let first = takes.count
            for take in speech.takes {
                takes.append((vectors.count, take.count))
                for frame in take { UnitVector.append(frame, to: &vectors) }
            }
            longest = max(longest, speech.frameCount)
            words[label] = Word(
                boundary: word.boundary,
                speechBoundary: speech.boundary,
                firstGap: speech.firstGap,
                takes: first..<takes.count
            )
        }
        guard longest > 0 else { return nil }
        (self.words, self.takes, self.vectors) = (words, takes, vectors)
        frames = SpeechFrames(embedding, count: longest)
        newest = [Lanes](repeating: .zero, count: longest * Self.lanes)
        samples = .allocate(capacity: SpeechFrames.samples(frames: longest))
        samples.initialize(repeating: 0)
        levels = SoundLevels(samples: samples.count)
    }

    deinit { samples.deallocate() }

    /// - Parameter proposed: its score is that of the word's templates.
    func look(
        _ proposed: ProposedWord,
        after earlier: Verdict? = nil,
        _ posteriors: [Float] = [],
        read: (_ first: Int, UnsafeMutableBufferPointer<Float>) -> Void
    ) -> Verdict? {
        guard words.indices.contains(proposed.label), let word = words[proposed.label] else { return nil }
        read(proposed.end - samples.count, samples)
        frames.compute(UnsafeBufferPointer(samples))
        for frame in 0..<frames.count {
            let place = frame * SpeechEmbedding.count
            let vector = UnsafeBufferPointer(rebasing: frames.frames[place..<place + SpeechEmbedding.count])
            UnitVector.write(vector.span, to: &newest, at: frame * Self.lanes)
        }
        var mean = Alignment()
        for take in word.takes { mean.add(align(takes[take], firstGap: word.firstGap ?? 0), of: word.takes.count) }
        let distance = mean.distance
        let probability = min(max(proposed.score, Self.range.lowerBound), Self.range.upperBound)
        let said = TaughtWord.similarity(
            word.boundary + TaughtWord.margin(probability: probability),
            partMargin: counted(proposed.partMargin, word.firstGap == nil ? nil : mean),
            boundary: word.speechBoundary
        )
        let similarity = SpeechTakes.similarity(said, distance: distance)
        return Verdict(
            label: proposed.label,
            confidence: TaughtWord.probability(margin: similarity - word.speechBoundary),
            confirmed: SpeechTakes.probability(distance: distance)
        )
    }

    /// What counts of how a phrase stands beside its parts. An end of it that is said alone has quiet before it, and one that ends a
    /// sentence has something else. So where there is sound before the gap, the margin beside its ends is larger, the nearer that sound is
    /// to the takes.
    ///
    /// - Parameter alignment: nil for a single word.
    private func counted(_ margin: PartMargin, _ alignment: Alignment?) -> Float {
        guard let alignment, margin.end < margin.beginning, alignment.distanceOfFirst < Self.nearFirst else {
            return margin.least
        }
        let behind = (Float(frames.count - 1) - alignment.gap) * Float(SpeechEmbedding.hopSamples)
        let middle = samples.count - Int(behind) - Self.middleOfFrame
        levels.measure(UnsafeBufferPointer(samples))
        let isSaid = levels.isSound(
            middle - Self.beforeGap.upperBound..<middle - Self.beforeGap.lowerBound,
            recent: Self.recent
        )
        let gain = Self.gainOfFirst * (Self.nearFirst - alignment.distanceOfFirst)
        return isSaid ? min(margin.beginning, margin.end + gain) : margin.least
    }

    /// Aligns a take with the newest frames.
    private func align(_ take: (start: Int, frames: Int), firstGap: Float) -> Alignment {
        var warping = FrameWarping()
        let older = FrameWarping.steps - frames.count
        let rowOfGap = Int((firstGap * Float(take.frames - 1)).rounded())
        var (places, sums) = (SIMD32<Float>.zero, SIMD32<Float>.zero)
        for row in 0..<take.frames {
            var costs = SIMD32<Float>(repeating: 1)
            let vector = take.start + row * Self.lanes
            for frame in 0..<frames.count {
                var sum = Lanes.zero
                for lane in 0..<Self.lanes { sum += newest[frame * Self.lanes + lane] * vectors[vector + lane] }
                costs[older + frame] -= sum.sum()
            }
            warping.add(costs, carrying: &places)
            guard row == rowOfGap else { continue }
            sums = warping.sums
            for step in 0..<FrameWarping.steps { places[step] = Float(step) }
        }
        let place = places[warping.end(ends: SpeechTakes.ends)]
        return Alignment(
            distance: warping.distance(ends: SpeechTakes.ends),
            distanceOfFirst: sums[Int(place)] / Float(rowOfGap + 1),
            gap: place - Float(older)
        )
    }
}
