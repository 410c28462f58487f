/// Lowers the confidence of a word that has been the likeliest for a few hops only: one that is said stays so for longer than a part of
/// another word.
public struct DurationPenalty: Sendable {
    /// Hops after which all of the confidence counts.
    private let hops: Int
    /// Nats for each hop that is missing.
    private let penalty: Float

    private static let (mostHops, mostNats) = (100, 100.0)

    /// - Parameters:
    ///   - description: nil for no penalty.
    ///   - wrong: the error for a value that a key must not have.
    init(_ description: DurationDescription?, wrong: (_ key: String, _ what: String) -> ModelError) throws(ModelError) {
        hops = description?.hops ?? 0
        let nats = description?.penalty ?? 0
        guard (0...Self.mostHops).contains(hops) else {
            throw wrong("duration.hops", "\(hops) is not from 0 to \(Self.mostHops)")
        }
        guard nats >= 0, nats <= Self.mostNats else {
            throw wrong("duration.penalty", "\(nats) is not from 0 to \(Self.mostNats)")
        }
        penalty = Float(nats)
    }

    /// Nats that are subtracted from the log-posteriors of words, for one that has been the likeliest for so many hops.
    public func nats(after likeliest: Int) -> Float { penalty * Float(max(0, hops - likeliest)) }
}
