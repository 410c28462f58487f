public import KernelInterface
public import Kernels

/// Google's speech embedding: 96 numbers that tell what is said, each 80 ms, of the last 775 ms. Models of openWakeWord work on them.
///
/// It is shared by all streams.
public final class SpeechEmbedding: Sendable {
    /// Numbers of an embedding.
    public static let count = EmbeddingLayers.outputs
    /// Samples at 16 kHz from one embedding to the next.
    public static let hopSamples = MelFrontEnd.chunkSamples

    let kernels: KernelSet
    let plan: EmbeddingPlan
    /// Packed weights, layer by layer.
    let weights: Memory<Float>
    /// The memory of a stream after a long silence.
    let initial: Memory<Float>
    /// The embedding of digital silence, `[count]`.
    let silence: [Float]

    /// Multiply-adds of an embedding.
    public var multiplyAdds: Int { plan.multiplyAdds }

    /// Reads the weights of a file.
    ///
    /// - Throws: `WakeWordError`, which names the file.
    public convenience init(path: String, kernels: KernelSet = .preferred) throws(WakeWordError) {
        let bytes = try readWakeWordFile(path, limit: TFLiteFile.Limits.fileBytes)
        do throws(WakeWordError) { try self.init(bytes: bytes, kernels: kernels) } catch { throw error.inFile(path) }
    }

    /// Reads the weights from the bytes of a TFLite file.
    ///
    /// - Throws: `WakeWordError.damaged`, `.unsupported` or `.size`, whose message does not name the file.
    public init(bytes: [UInt8], kernels: KernelSet = .preferred) throws(WakeWordError) {
        let file = try TFLiteFile(bytes)
        let plan = EmbeddingPlan(EmbeddingLayers())
        let weights = Memory<Float>(plan.weightCount)
        try Self.readWeights(file, plan, into: weights)
        let initial = Memory<Float>(plan.memoryCount)
        let features = Memory<Float>(
            [Float](repeating: MelFrontEnd.silence, count: MelFrontEnd.frames * MelFrontEnd.bands)
        )
        // More chunks than the embedding's window has.
        for _ in 0..<16 { plan.run(features.base, initial.base, weights: weights.base, kernels: kernels) }
        silence = (0..<Self.count).map { initial.base[plan.output + $0] }
        guard silence.allSatisfy(\.isFinite) else {
            throw .damaged.saying("its weights are not numbers of usual size", advice: "install the file again")
        }
        self.kernels = kernels
        self.plan = plan
        self.weights = weights
        self.initial = initial
    }

    /// Packs the weights of all layers.
    private static func readWeights(
        _ file: TFLiteFile,
        _ plan: EmbeddingPlan,
        into weights: borrowing Memory<Float>
    ) throws(WakeWordError) {
        let convolutions = (file.graphs.first?.operators ?? []).filter { $0.code == OperatorKind.convolution.rawValue }
        guard let graph = file.graphs.first, convolutions.count == plan.layers.count else {
            throw .unsupported.saying(
                "\(convolutions.count) convolutions, not \(plan.layers.count); this is not Google's speech embedding"
            )
        }
        for (operation, (layer, place)) in zip(convolutions, zip(plan.layers, plan.weights)) {
            guard operation.inputs.count == 3, operation.inputs.allSatisfy(graph.tensors.indices.contains) else {
                throw .damaged.saying("a convolution lacks an input", advice: "install the file again")
            }
            let (filter, bias) = (graph.tensors[operation.inputs[1]], graph.tensors[operation.inputs[2]])
            let expected = [layer.outputs, layer.kernel.frames, layer.kernel.bands, layer.inputs]
            guard filter.shape == expected, bias.shape == [layer.outputs] else {
                throw .unsupported.saying(
                    "a convolution has weights of \(filter.shape), not \(expected); this is not Google's speech embedding"
                )
            }
            packConvolution(
                weights: try file.floats(filter),
                bias: try file.floats(bias),
                shape: layer.shape,
                into: weights.base + place
            )
        }
    }
}
