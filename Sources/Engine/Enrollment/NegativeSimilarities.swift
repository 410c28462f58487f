import Spotting

/// A part of the talk: consecutive utterances and their rows.
private struct TalkPart {
    let rows: Range<Int>
    let utterances: ArraySlice<Range<Int>>
}

extension NegativeSet {
    /// Utterances in a cohort. Measured as `WordStore.Word.cohortWeight`: 10 to 100 are alike.
    private static let cohortSize = 20
    /// In each half of the talk, the most rows whose alignment is computed.
    private static let mostAligned = 500
    /// The usual distance of talk from a word, which is that of the other rows.
    static let distanceOfTalk: Float = 0.68
    /// Rows of an utterance after which there is quiet enough for a word that waits for it.
    private static let rowsOfQuiet = 5
    /// Hops between two peaks: no two false accepts are less than a word's length apart.
    private static let apart = 7

    /// The halves of the talk. A word is compared with one of them by templates whose cohort is from the other: the templates keep away
    /// from their cohort, and that says nothing about other talk.
    private var halves: [TalkPart] {
        let middle = utterances.count / 2
        let row = utterances.indices.contains(middle) ? utterances[middle].lowerBound : talk.count
        return [
            TalkPart(rows: 0..<row, utterances: utterances[..<middle]),
            TalkPart(rows: row..<talk.count, utterances: utterances[middle...]),
        ]
    }

    private var whole: TalkPart { TalkPart(rows: 0..<talk.count, utterances: utterances[...]) }

    /// The utterances that are nearest to a word, in the mean: `[templates × dimensions]`. The mean of the squares of the vectors'
    /// lengths, weighted like the templates, is 1.
    ///
    /// - Parameter templates: unit vectors, the one at the word's end first.
    func cohort(of templates: [[Float]], _ alignment: TemplateAlignment) -> [[Float]] {
        cohort(of: templates, alignment, from: whole)
    }

    private func cohort(of templates: [[Float]], _ alignment: TemplateAlignment, from part: TalkPart) -> [[Float]] {
        let values = similarities(to: templates, alignment, part)
        let nearest = part.utterances.compactMap { rows in
            rows.map { (row: $0, similarity: values[$0 - part.rows.lowerBound]) }.max { $0.similarity < $1.similarity }
        }
        let chosen = nearest.sorted { $0.similarity > $1.similarity }.prefix(Self.cohortSize).map(\.row)
        let sums = templates.indices.map { template in
            var sum = [Float](repeating: 0, count: templates[template].count)
            for row in chosen {
                let vector = talk[max(part.rows.lowerBound, row - template * alignment.spacing)]
                for index in sum.indices { sum[index] += vector[index] }
            }
            return sum
        }
        let square = alignment.mean { dot(sums[$0], sums[$0]) }
        let scale = square > 0 ? 1 / square.squareRoot() : 0
        return sums.map { sum in sum.map { $0 * scale } }
    }

    /// Similarities of a word to the talk, as a detector computes them (the mean of two hops), highest first.
    ///
    /// - Returns: peaks anywhere in the talk; and the highest of each utterance said alone, at the hops that may decide.
    func similarities(to word: WordStore.Word) -> (anywhere: [Float], alone: [Float]) {
        let (halves, alignment) = (halves, word.alignment)
        var (anywhere, alone): ([Float], [Float]) = ([], [])
        for (half, other) in zip(halves, halves.reversed()) {
            var templates = word.prototype
            if !word.cohort.isEmpty {
                templates = word.prototype(cohort: cohort(of: word.prototype(cohort: []), alignment, from: other))
            }
            let single = aligned(similarities(to: templates, alignment, half), with: word.sequences, half)
            // The value at a row is the mean of this row and the next one.
            let values = zip(single, single.dropFirst()).map { ($0 + $1) / 2 }
            anywhere += Self.peaks(values)
            alone += half.utterances.map { rows in
                let highest = rows.dropLast().map { values[$0 - half.rows.lowerBound] }.max() ?? -1
                return rows.count < Self.rowsOfQuiet ? highest - TaughtWord.immediateMargin : highest
            }
        }
        return (anywhere.sorted(by: >), alone.sorted(by: >))
    }

    /// Similarities of templates to the rows of a part.
    private func similarities(to templates: [[Float]], _ alignment: TemplateAlignment, _ part: TalkPart) -> [Float] {
        let cosines = templates.map { talk.cosines(with: $0, part.rows) }
        return (0..<part.rows.count).map { row in
            alignment.similarity { template, age in
                // Before the first row is silence, as in it.
                let place = max(0, row - age)
                return place < part.rows.count ? cosines[template][place] : 0
            }
        }
    }

    /// Similarities of which the highest count the alignment with a word's sequences, as a detector does, and the others what that changes
    /// with most talk.
    private func aligned(_ values: [Float], with sequences: [[[Float]]], _ part: TalkPart) -> [Float] {
        guard !sequences.isEmpty, let least = values.sorted(by: >).prefix(Self.mostAligned).last else { return values }
        return values.enumerated().map { offset, value in
            guard value >= least else { return TaughtWord.similarity(value, distance: Self.distanceOfTalk) }
            let row = part.rows.lowerBound + offset
            let sum = sequences.reduce(0) { $0 + distance(of: $1, at: row, part) }
            return TaughtWord.similarity(value, distance: sum / Float(sequences.count))
        }
    }

    /// The distance of a take's sequence from the rows that end at one.
    private func distance(of sequence: [[Float]], at row: Int, _ part: TalkPart) -> Float {
        let first = max(part.rows.lowerBound, row + 1 - TimeWarping.hops)
        var warping = TimeWarping()
        for hop in sequence {
            var costs = TimeWarping.Hops(repeating: 1)
            for (index, cosine) in talk.cosines(with: hop, first..<row + 1).enumerated() {
                costs[TimeWarping.hops - (row + 1 - first) + index] -= cosine
            }
            warping.add(costs)
        }
        return warping.distance
    }

    /// The peaks among the 400 highest values, none within `apart` positions of a higher one.
    private static func peaks(_ values: [Float]) -> [Float] {
        var isTaken = [Bool](repeating: false, count: values.count)
        var peaks: [Float] = []
        for index in values.indices.sorted(by: { values[$0] > values[$1] }).prefix(400) where !isTaken[index] {
            peaks.append(values[index])
            for near in max(0, index - apart)...min(values.count - 1, index + apart) { isTaken[near] = true }
        }
        return peaks
    }
}
