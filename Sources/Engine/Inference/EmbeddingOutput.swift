/// Where the parts of an embedding are in a state, and how they are joined.
///
/// The output of one layer is the embedding as it is. Of n layers, each output is scaled to length √(1 / n), so that all parts weigh
/// the same in a cosine, whatever their lengths.
struct EmbeddingOutput: Sendable {
    private struct Part {
        /// Offset of the newest hop's output, in floats; those of earlier hops are before it.
        let offset: Int
        let count: Int
    }

    private let parts: [Part]

    /// - Parameter offset: of a tensor's newest column, in floats.
    init(_ network: Network, offset: (_ tensor: Int) -> Int) {
        parts = network.embedding.map { Part(offset: offset($0), count: network.tensors[$0].channels) }
    }

    /// Copies the embedding of a hop. Allocates nothing.
    ///
    /// - Parameters:
    ///   - hops: how many hops before the newest one.
    ///   - first: index of its first number in `target`. Nothing is copied to a target without room for it.
    func read(from state: UnsafePointer<Float>, before hops: Int = 0, into target: inout [Float], at first: Int = 0) {
        var place = first
        // Counts indices, because an array's iterator allocates in builds without optimisation.
        for number in parts.indices {
            let part = parts[number]
            guard place + part.count <= target.count else { return }
            let source = state + part.offset - hops * part.count
            let scale = parts.count == 1 ? 1 : self.scale(source, part.count)
            for index in 0..<part.count { target[place + index] = source[index] * scale }
            place += part.count
        }
    }

    /// What scales a part; NaN where the part is NaN or infinite, because a sample was.
    private func scale(_ source: UnsafePointer<Float>, _ count: Int) -> Float {
        var square: Float = 0
        for index in 0..<count { square += source[index] * source[index] }
        guard square > 0 else { return square }
        return square.isFinite ? 1 / (square * Float(parts.count)).squareRoot() : .nan
    }
}
