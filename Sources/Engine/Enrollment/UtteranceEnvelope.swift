private import Core

extension Utterance {
    /// The level of each of `count` parts of the same length, for a picture, `[count]`: 1 is the loudest part's, 0 is 40 dB below it or less.
    public func envelope(_ count: Int) -> [Double] {
        let levels = (0..<count).map { column in
            let part = samples[column * samples.count / count..<(column + 1) * samples.count / count]
            return decibels(part.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(max(1, part.count)))
        }
        let most = levels.max() ?? 0
        return levels.map { max(0, min(1, ($0 - most + 40) / 40)) }
    }
}
