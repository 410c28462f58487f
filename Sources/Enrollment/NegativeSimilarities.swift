private import Spotting

extension NegativeSet {
    /// Utterances in a cohort. Measured as `WordStore.Word.cohortWeight`: 10 to 100 are alike.
    private static let cohortSize = 20

    /// The halves of the talk. A word is compared with one of them by templates whose cohort is from the other: the templates keep away
    /// from their cohort, and that says nothing about other talk.
    private enum Half: CaseIterable {
        case first, second

        var other: Half { self == .first ? .second : .first }

        func of(_ range: Range<Int>) -> Range<Int> {
            let middle = range.lowerBound + range.count / 2
            return self == .first ? range.lowerBound..<middle : middle..<range.upperBound
        }
    }

    /// The talk that is nearest to each of a word's templates, in the mean: unit vectors, `[templates × dimensions]`.
    ///
    /// - Parameter templates: unit vectors, the one at the word's end first.
    func cohort(of templates: [[Float]]) -> [[Float]] { cohort(of: templates, from: utterances.indices) }

    private func cohort(of templates: [[Float]], from chosen: Range<Int>) -> [[Float]] {
        templates.map { template in
            let cosines = ends.cosines(with: template)
            let nearest = utterances[chosen].compactMap { rows in rows.max { cosines[$0] < cosines[$1] } }
            var sum = [Float](repeating: 0, count: template.count)
            for row in nearest.sorted(by: { cosines[$0] > cosines[$1] }).prefix(Self.cohortSize) {
                let vector = ends[row]
                for index in sum.indices { sum[index] += vector[index] }
            }
            return unit(sum)
        }
    }

    /// A word's templates for comparing it with one half of the talk.
    private func templates(of word: WordStore.Word, for half: Half) -> [[Float]] {
        guard !word.cohort.isEmpty else { return word.prototype }
        let takes = word.prototype(cohort: [])
        return word.prototype(cohort: cohort(of: takes, from: half.other.of(utterances.indices)))
    }

    /// Similarities of a word to the talk, as a detector computes them (the mean of two hops): the peaks, highest first, no two
    /// of them less than a word's length apart.
    func talkSimilarities(_ word: WordStore.Word) -> [Float] {
        let spacing = word.takes.first?.templateSpacing ?? 0
        return Half.allCases.flatMap { half in
            Self.peaks(
                similarities(templates(of: word, for: half), spacing: spacing, hops: half.of(0..<talk.count)),
                apart: 7
            )
        }.sorted(by: >)
    }

    /// Similarities to some hops of the talk, each the mean of two hops.
    private func similarities(_ templates: [[Float]], spacing: Int, hops: Range<Int>) -> [Float] {
        let cosines = templates.map { talk.cosines(with: $0) }
        let similarities = hops.map { hop in
            PersonalWord.similarity(templates: templates.count, spacing: spacing) { template, age in
                hops.contains(hop - age) ? cosines[template][hop - age] : 0
            }
        }
        return zip(similarities, similarities.dropFirst()).map { ($0 + $1) / 2 }
    }

    /// Similarities of a word's last template to the ends of utterances, as a detector computes them (the mean of two hops): the
    /// highest of each utterance, highest first.
    func endSimilarities(_ word: WordStore.Word) -> [Float] {
        Half.allCases.flatMap { half -> [Float] in
            guard let template = templates(of: word, for: half).first else { return [] }
            let cosines = ends.cosines(with: template)
            return utterances[half.of(utterances.indices)].map { rows in
                zip(rows, rows.dropFirst()).map { (cosines[$0] + cosines[$1]) / 2 }.max() ?? -1
            }
        }.sorted(by: >)
    }

    /// The peaks among the 400 highest values, none within `apart` positions of a higher one.
    private static func peaks(_ values: [Float], apart: Int) -> [Float] {
        var isTaken = [Bool](repeating: false, count: values.count)
        var peaks: [Float] = []
        for index in values.indices.sorted(by: { values[$0] > values[$1] }).prefix(400) where !isTaken[index] {
            peaks.append(values[index])
            for near in max(0, index - apart)...min(values.count - 1, index + apart) { isTaken[near] = true }
        }
        return peaks
    }
}
