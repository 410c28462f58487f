/// Sixteen numbers of a vector.
typealias Lanes = SIMD16<Float>

/// Vectors of length 1 in lanes, zero-padded: of the model's embedding, and of the speech embedding.
enum UnitVector {
    /// Lanes of a vector.
    static func lanes(of numbers: Int) -> Int { (numbers + Lanes.scalarCount - 1) / Lanes.scalarCount }

    static func append(_ vector: [Float], to target: inout [Lanes]) {
        let start = target.count
        target += [Lanes](repeating: .zero, count: lanes(of: vector.count))
        write(vector.span, to: &target, at: start)
    }

    /// Scales a vector to length 1. A vector with NaN or infinite elements, because a sample was, becomes zero: its
    /// cosine with every other is 0. Allocates nothing.
    static func write(_ vector: Span<Float>, to target: inout [Lanes], at start: Int) {
        var square: Float = 0
        for index in vector.indices { square += vector[index] * vector[index] }
        let scale = square.isFinite && square > 0 ? 1 / square.squareRoot() : 0
        for index in vector.indices {
            let value = scale == 0 ? 0 : vector[index] * scale
            target[start + index / Lanes.scalarCount][index % Lanes.scalarCount] = value
        }
    }
}
