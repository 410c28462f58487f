/// A small seeded generator, the same everywhere (SplitMix64, Steele et al. 2014).
public struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension SplitMix {
    /// A float, uniform over the range.
    public mutating func float(_ range: ClosedRange<Float> = -1...1) -> Float {
        range.lowerBound + Float(next() >> 40) * 0x1p-24 * (range.upperBound - range.lowerBound)
    }

    /// `count` floats, uniform over the range.
    public mutating func floats(_ count: Int, _ range: ClosedRange<Float> = -1...1) -> [Float] {
        (0..<count).map { _ in float(range) }
    }

    /// A whole number, uniform over the range.
    public mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}
