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
    /// How many places in an hour of talk a word's templates propose to the second look.
    private static let looksPerHour = 100.0
    /// Stands for the similarity of what is not looked at.
    private static let notProposed: Float = -2
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

    /// Similarities of a word to the talk, as a detector computes them (the mean of two hops).
    struct Similarities {
        /// Those of the templates at each row of each half: of the row and the next one.
        fileprivate let values: [[Float]]
        /// The highest first: peaks anywhere in the talk; and the highest of each utterance said alone, at the hops that may decide.
        let anywhere, alone: [Float]
        /// The usual rise of a similarity by which its rate falls to 1 / e. Before a look it is the mean over eight words by real people,
        /// after one that over ten words, four draws of five takes each, on which figures are measured, too.
        let usualScale: Double
    }

    /// Similarities of a word's templates.
    func similarities(to word: WordStore.Word) -> Similarities {
        let (halves, alignment) = (halves, word.alignment)
        return similarities(
            zip(halves, halves.reversed()).map { half, other in
                var templates = word.prototype
                if !word.cohort.isEmpty {
                    templates = word.prototype(cohort: cohort(of: word.prototype(cohort: []), alignment, from: other))
                }
                let single = aligned(similarities(to: templates, alignment, half), with: word.sequences, half)
                return zip(single, single.dropFirst()).map { ($0 + $1) / 2 }
            },
            usualScale: 0.046
        )
    }

    private func similarities(_ values: [[Float]], usualScale: Double) -> Similarities {
        var (anywhere, alone): ([Float], [Float]) = ([], [])
        for (half, values) in zip(halves, values) {
            anywhere += Self.peaks(values)
            alone += half.utterances.map { rows in
                let highest = rows.dropLast().map { values[$0 - half.rows.lowerBound] }.max() ?? Self.notProposed
                return rows.count < Self.rowsOfQuiet ? highest - TaughtWord.immediateMargin : highest
            }
        }
        func sorted(_ values: [Float]) -> [Float] { values.filter { $0 > -1 }.sorted(by: >) }
        return Similarities(
            values: values,
            anywhere: sorted(anywhere),
            alone: sorted(alone),
            usualScale: usualScale
        )
    }

    /// Similarities after a second look at what the templates propose.
    ///
    /// - Parameter templates: similarities of the word's templates.
    /// - Returns: the similarity of templates from which there is a look, and those after it; nil where a word has no speech frames, or the
    ///   model no talk to compare them with.
    func looks(at word: WordStore.Word, _ templates: Similarities) -> (proposal: Float, similarities: Similarities)? {
        let takes = word.speechTakes
        let last = Int(Self.looksPerHour * hours)
        guard let speech, !takes.isEmpty, last > 0, last < templates.anywhere.count else { return nil }
        let proposal = templates.anywhere[last]
        let compared = speech.compared(takes)
        let looked = zip(halves, templates.values).map { half, values in
            values.enumerated().map { offset, value in
                // The later of the two rows is the hop that decides.
                value < proposal
                    ? Self.notProposed
                    : SpeechTakes.similarity(
                        value,
                        distance: speech.distance(of: compared, at: half.rows.lowerBound + offset + 1)
                    )
            }
        }
        return (proposal, similarities(looked, usualScale: 0.068))
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
        let directions = sequences.map { $0.map(talk.direction) }
        return values.enumerated().map { offset, value in
            guard value >= least else { return TaughtWord.similarity(value, distance: Self.distanceOfTalk) }
            let row = part.rows.lowerBound + offset
            let sum = directions.reduce(0) { $0 + distance(of: $1, at: row, part) }
            return TaughtWord.similarity(value, distance: sum / Float(sequences.count))
        }
    }

    /// The distance of a take's sequence from the rows that end at one.
    private func distance(of sequence: [VectorTable.Direction], at row: Int, _ part: TalkPart) -> Float {
        let first = max(part.rows.lowerBound, row + 1 - HopWarping.steps)
        return HopWarping.distance(of: sequence, ends: HopWarping.ends) { talk.cosines(with: $0, first..<row + 1) }
    }

    /// The peaks among the 2000 highest values, none within `apart` positions of a higher one.
    private static func peaks(_ values: [Float]) -> [Float] {
        var isTaken = [Bool](repeating: false, count: values.count)
        var peaks: [Float] = []
        for index in values.indices.sorted(by: { values[$0] > values[$1] }).prefix(2000) where !isTaken[index] {
            peaks.append(values[index])
            for near in max(0, index - apart)...min(values.count - 1, index + apart) { isTaken[near] = true }
        }
        return peaks
    }
}
