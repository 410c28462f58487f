/// Aligns the hops of a take, from its beginning to its end, with the newest hops of a stream: dynamic time warping.
///
/// The whole take is aligned, with hops that begin anywhere among the newest ``hops`` and end at one of the last two. A hop of the stream
/// may sound like two of the take, and one in between may be passed over for half of its cost; every hop of the take counts once, its
/// beginning as much as its end. Source: Sakoe and Chiba, 1978, with a free beginning.
public struct TimeWarping {
    /// Values for the newest hops of the stream, the oldest first.
    public typealias Hops = SIMD16<Float>

    /// Hops of the stream that are compared.
    public static let hops = Hops.scalarCount
    /// Cost of a hop of the stream that is passed over, as a share of its own.
    private static let passing: Float = 0.5

    /// For each hop of the stream, the least cost of the rows so far that ends there.
    private var sums = Hops.zero
    private var rows = 0

    public init() {}

    /// Adds the next hop of the take.
    ///
    /// - Parameter costs: its distance to each hop of the stream, 1 − cosine.
    public mutating func add(_ costs: Hops) {
        defer { rows += 1 }
        guard rows > 0 else {
            sums = costs
            return
        }
        var least = sums
        for hop in 1..<Self.hops { least[hop] = min(least[hop], sums[hop - 1]) }
        for hop in 2..<Self.hops { least[hop] = min(least[hop], sums[hop - 2] + Self.passing * costs[hop - 1]) }
        sums = least + costs
    }

    /// The mean cost of a hop of the take, 0…2.
    public var distance: Float { min(sums[Self.hops - 1], sums[Self.hops - 2]) / Float(max(1, rows)) }
}
