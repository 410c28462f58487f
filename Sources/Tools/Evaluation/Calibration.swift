/// Calibration of confidences: of the answers with a confidence of 80 %, 80 % should be right.
public struct Calibration: Sendable, Equatable, Encodable {
    /// Answers with a confidence from `lower` to `upper`.
    public struct Bin: Sendable, Equatable, Encodable {
        public let lower: Double
        public let upper: Double
        public let count: Int
        /// Mean confidence; nil without answers.
        public let confidence: Double?
        /// Share of right answers; nil without answers.
        public let accuracy: Double?
    }

    /// Bins of equal width over 0…1.
    public let bins: [Bin]
    /// Expected calibration error (Guo et al. 2017): Σ countᵢ · |confidenceᵢ − accuracyᵢ| / Σ countᵢ over the bins; nil without
    /// answers.
    public let error: Double?

    /// - Parameters:
    ///   - answers: confidences, 0…1, and whether each answer was right.
    ///   - count: number of bins.
    public init(_ answers: [(confidence: Double, isRight: Bool)], bins count: Int = 15) {
        let count = max(1, count)
        let slots = Dictionary(grouping: answers) { answer in
            Int(exactly: min(Double(count - 1), max(0, (answer.confidence * Double(count)).rounded(.down)))) ?? 0
        }
        bins = (0..<count).map { number in
            let answers = slots[number] ?? []
            let sum = answers.reduce(0) { $0 + $1.confidence }
            return Bin(
                lower: Double(number) / Double(count),
                upper: Double(number + 1) / Double(count),
                count: answers.count,
                confidence: answers.isEmpty ? nil : sum / Double(answers.count),
                accuracy: ratio(answers.count(where: \.isRight), answers.count)
            )
        }
        let gaps = bins.map { abs(($0.confidence ?? 0) - ($0.accuracy ?? 0)) * Double($0.count) }
        error = answers.isEmpty ? nil : gaps.reduce(0, +) / Double(answers.count)
    }
}
