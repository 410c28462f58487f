private import Core
import Kernels
private import Synchronization

// Hashes that tell files and layers apart: the same on every machine and not cryptographic. They must be fast, because
// a service hashes megabytes when it starts.

/// A hash of `bytes` that continues from `basis`.
func hash(_ bytes: ArraySlice<UInt8>, _ basis: UInt64 = fnvBasis) -> UInt64 {
    bytes.withUnsafeBytes { hash($0, basis) }
}

private func hash(_ bytes: UnsafeRawBufferPointer, _ basis: UInt64) -> UInt64 {
    bytes.baseAddress.map { hashWords($0, count: bytes.count, from: basis) } ?? basis
}

extension FileContent {
    /// A hash of all bytes that continues from `basis`.
    func hash(from basis: UInt64) throws(ModelError) -> UInt64 {
        try withBytes(0..<count) { Inference.hash($0, basis) }
    }
}

extension Network {
    /// A hash of the shapes and weights of the layers on which the embedding depends; `basis` without an embedding.
    func embeddingHash(_ file: SafeTensors, from basis: UInt64) throws(ModelError) -> UInt64 {
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
                if let entry = file.entries["\(layer.name).\(part)"] {
                    sum = try file.content.withBytes(entry.bytes) { hash($0, sum) }
                }
            }
        }
        return sum
    }
}

/// The files of a model that is loaded: what of them is not needed by every program is read when it is.
final class ModelFiles: Sendable {
    let description: [UInt8]
    let weights: SafeTensors
    /// The weights of the confirming networks; nil where there is no such file.
    let confirm: SafeTensors?
    /// Names in error messages.
    let names: (description: String, confirm: String)

    private let identities = Mutex<(model: String?, embedding: String?)>((nil, nil))

    init(
        description: [UInt8],
        weights: SafeTensors,
        confirm: SafeTensors?,
        names: (description: String, confirm: String)
    ) {
        (self.description, self.weights, self.confirm, self.names) = (description, weights, confirm, names)
    }

    /// See ``Model/identity``. Of a file that cannot be read any more there is nothing in it.
    func identity(confirms: Bool) -> String {
        identities.withLock { known in
            if let model = known.model { return model }
            var sum = hash(description[...])
            sum = (try? weights.content.hash(from: sum)) ?? sum
            if confirms, let confirm { sum = (try? confirm.content.hash(from: sum)) ?? sum }
            let text = padded(sum, 16, radix: 16)
            known.model = text
            return text
        }
    }

    /// See ``Model/embeddingIdentity``.
    func embeddingIdentity(_ network: Network, _ frontEnd: FrontEnd) -> String {
        identities.withLock { known in
            if let embedding = known.embedding { return embedding }
            let sum = (try? network.embeddingHash(weights, from: frontEnd.identity)) ?? 0
            let text = padded(sum, 16, radix: 16)
            known.embedding = text
            return text
        }
    }
}
