import Kernels

// Hashes that tell files and layers apart: the same on every machine and not cryptographic. They must be fast, because
// each start of the program hashes megabytes.

/// A hash of `bytes` that continues from `basis`.
func hash(_ bytes: ArraySlice<UInt8>, _ basis: UInt64 = fnvBasis) -> UInt64 {
    bytes.withUnsafeBytes { $0.baseAddress.map { hashWords($0, count: bytes.count, from: basis) } ?? basis }
}

extension Network {
    /// A hash of the shapes and weights of the layers on which the embedding depends; `basis` without an embedding.
    func embeddingHash(_ file: SafeTensors, from basis: UInt64) -> UInt64 {
        guard !embedding.isEmpty else { return basis }
        let isAncestor = ancestors(of: embedding)
        var sum = basis
        if embedding.count > 1 { sum = hash(Array("\(embedding.map { tensors[$0].name })".utf8)[...], sum) }
        for (index, layer) in layers.enumerated() where isAncestor[index + 1] {
            let tensor = tensors[index + 1]
            let inputs = layer.inputs.map { tensors[$0].name }
            let numbers = [layer.parameters, layer.multiplyAddsPerColumn, tensor.channels, tensor.columns]
            let text = "\(layer.name) of \(inputs): \(numbers), \(tensor.columnsPerHop), \(tensor.isNonNegative)"
            sum = hash(Array(text.utf8)[...], sum)
            for part in ["weight", "step", "bias"] {
                if let entry = file.entries["\(layer.name).\(part)"] { sum = hash(file.bytes[entry.bytes], sum) }
            }
        }
        return sum
    }
}
