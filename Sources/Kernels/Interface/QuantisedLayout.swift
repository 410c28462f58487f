/// How whole numbers lie in memory for a set of kernels: as many inputs as fill 32 bits meet a weight each in one lane.
public enum QuantisedLayout: Sendable {
    /// Two inputs of 16 bits, as SSE2 and NEON multiply them.
    case pairs
    /// Four inputs of 8 bits, as AVX2 and AVX-512 multiply them.
    case quads

    /// Inputs that a lane takes at once.
    @inlinable public var atOnce: Int {
        switch self {
        case .pairs: 2
        case .quads: 4
        }
    }

    @inlinable public var inputBytes: Int { 4 / atOnce }
}
