/// Aligns a take, from its beginning to its end, with the newest steps of a stream: dynamic time warping.
///
/// A step is a hop or a frame, an element of `Costs` each. The whole take is aligned, with steps that begin anywhere among the newest ones
/// and end at one of the last. A step of the stream may sound like two of the take, and one in between may be passed over for half of
/// its cost; every step of the take counts once, its beginning as much as its end. Source: Sakoe and Chiba, 1978, with a free beginning.
public struct TimeWarping<Costs: SIMD> where Costs.Scalar == Float {
    /// Steps of the stream that are compared.
    @inlinable public static var steps: Int { Costs.scalarCount }
    /// Cost of a step of the stream that is passed over, as a share of its own.
    @inlinable static var passing: Float { 0.5 }

    /// For each step of the stream, the oldest first, the least cost of the rows so far that ends there.
    @usableFromInline var sums = Costs.zero
    @usableFromInline var rows = 0

    @inlinable public init() {}

    /// Adds the next step of the take.
    ///
    /// - Parameter costs: its distance to each step of the stream, 1 − cosine, the oldest first.
    @inlinable
    public mutating func add(_ costs: Costs) {
        defer { rows += 1 }
        guard rows > 0 else {
            sums = costs
            return
        }
        var least = sums
        for step in 1..<Self.steps { least[step] = min(least[step], sums[step - 1]) }
        for step in 2..<Self.steps { least[step] = min(least[step], sums[step - 2] + Self.passing * costs[step - 1]) }
        sums = least + costs
    }

    /// As ``add(_:)``, and carries a value of each step of the stream along the alignments that end there.
    @inlinable
    mutating func add(_ costs: Costs, carrying values: inout Costs) {
        defer { rows += 1 }
        guard rows > 0 else {
            sums = costs
            return
        }
        var (least, carried) = (sums, values)
        for step in 1..<Self.steps where sums[step - 1] < least[step] {
            (least[step], carried[step]) = (sums[step - 1], values[step - 1])
        }
        for step in 2..<Self.steps {
            let passed = sums[step - 2] + Self.passing * costs[step - 1]
            if passed < least[step] { (least[step], carried[step]) = (passed, values[step - 2]) }
        }
        (sums, values) = (least + costs, carried)
    }

    /// The step of the stream at which the best alignment ends.
    ///
    /// - Parameter ends: as for ``distance(ends:)``.
    @inlinable
    func end(ends: Int) -> Int {
        var best = Self.steps - 1
        for step in Self.steps - ends..<Self.steps where sums[step] < sums[best] { best = step }
        return best
    }

    /// The mean cost of a step of the take, 0…2.
    ///
    /// - Parameter ends: it may end at so many of the newest steps.
    @inlinable
    public func distance(ends: Int) -> Float {
        var least = sums[Self.steps - 1]
        for step in Self.steps - ends..<Self.steps { least = min(least, sums[step]) }
        return least / Float(max(1, rows))
    }
}

/// Alignment with hops of the model's embedding.
public typealias HopWarping = TimeWarping<SIMD16<Float>>
/// Alignment with frames of the speech embedding.
public typealias FrameWarping = TimeWarping<SIMD32<Float>>

extension HopWarping {
    /// A take ends at one of so many hops.
    @inlinable public static var ends: Int { 2 }
    /// The mean cost of a hop of the take, 0…2.
    @inlinable public var distance: Float { distance(ends: Self.ends) }
}
