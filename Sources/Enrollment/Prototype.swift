public import Spotting

extension WordStore.Word {
    /// One vector for each anchor: the mean direction of the takes'. Those that were taken apart otherwise than the first do
    /// not count.
    var prototype: [[Float]] { mean(of: takes[...]) }

    /// How like the others a take is; nil where it is the only one, or taken apart otherwise.
    func likeness(ofTake index: Int) -> Float? {
        let others = takes[..<index] + takes[(index + 1)...]
        return Self.likeness(takes[index], mean(of: others))
    }

    /// The mean cosine over the anchors; nil where their numbers differ.
    static func likeness(_ take: WordStore.Take, _ prototype: [[Float]]) -> Float? {
        guard !prototype.isEmpty, prototype.count == take.anchors.count else { return nil }
        return zip(take.anchors, prototype).reduce(0) { $0 + dot($1.0, $1.1) } / Float(prototype.count)
    }

    private func mean(of takes: ArraySlice<WordStore.Take>) -> [[Float]] {
        guard let first = takes.first else { return [] }
        let alike = takes.filter { $0.anchors.count == first.anchors.count && $0.lag == first.lag }
        return first.anchors.indices.map { anchor in
            var sum = [Float](repeating: 0, count: first.anchors[anchor].count)
            for take in alike { for index in sum.indices { sum[index] += take.anchors[anchor][index] } }
            return unit(sum)
        }
    }

    /// The word as a detector hears it; nil where it has no takes.
    public var personal: PersonalWord? {
        PersonalWord(
            name: name,
            threshold: threshold,
            templates: prototype,
            templateSpacing: takes.first?.lag ?? 0,
            boundary: boundary
        )
    }
}
