import Inference
import KernelInterface

/// Reads the weights of the phoneme networks: those of 8 bits have a step for each output beside them.
struct PhonemeWeights {
    let tensors: SafeTensors

    /// The numbers of a tensor.
    ///
    /// - Throws: `ModelError.tensor`.
    func floats(_ name: String, _ shape: [Int]) throws(ModelError) -> [Float] {
        var floats = try tensors.floats(name, shape: shape)
        let steps = name + ".steps"
        guard tensors.shape(of: steps) != nil, let rows = shape.first, rows > 0 else { return floats }
        let scales = try tensors.floats(steps, shape: [rows])
        let width = floats.count / rows
        for row in 0..<rows { for index in row * width..<(row + 1) * width { floats[index] *= scales[row] } }
        return floats
    }

    /// Packs the weights and biases of a convolution for the kernels.
    func pack(
        _ name: String,
        bias: String,
        _ shape: ConvolutionShape,
        _ dimensions: [Int],
        into packed: UnsafeMutablePointer<Float>
    ) throws(ModelError) {
        let weights = try floats(name, dimensions)
        let biases = try floats(bias, [shape.outputChannels])
        packConvolution(weights: weights, bias: biases, shape: shape, into: packed)
    }
}
