import Kernels

// Hashes tell files and layers apart and keep no secret; they are the same on every machine. Those of megabytes are made at every
// start.

func hash(_ bytes: ArraySlice<UInt8>, _ basis: UInt64 = fnvBasis) -> UInt64 {
    bytes.withUnsafeBytes { $0.baseAddress.map { hashWords($0, count: bytes.count, from: basis) } ?? basis }
}

/// 16 digits.
func hexadecimal(_ hash: UInt64) -> String {
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}

extension Network {
    /// A hash of the layers that lead to the embedding, shapes and weights; of nothing where there is none.
    func embeddingHash(_ file: SafeTensors, from basis: UInt64) -> UInt64 {
        guard let embedding else { return basis }
        let leads = leading(to: [embedding])
        var sum = basis
        for (index, layer) in layers.enumerated() where leads[index + 1] {
            let tensor = tensors[index + 1]
            let inputs = layer.inputs.map { tensors[$0].name }
            let numbers = [layer.parameters, layer.multiplyAddsPerColumn, tensor.channels, tensor.columns]
            let text = "\(layer.name) of \(inputs): \(numbers), \(tensor.columnsPerHop), \(tensor.isNonNegative)"
            sum = hash(Array(text.utf8)[...], sum)
            for part in ["weight", "bias"] {
                if let entry = file.entries["\(layer.name).\(part)"] { sum = hash(file.bytes[entry.bytes], sum) }
            }
        }
        return sum
    }
}
