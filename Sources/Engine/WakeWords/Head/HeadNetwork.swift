private import Core
import KernelInterface
import Kernels

/// A head of openWakeWord, ready to run: a small network of floats that turns the newest embeddings into the probability of a word. It is
/// shared by all streams.
public final class HeadNetwork: Sendable {
    /// Embeddings that it reads.
    public let windows: Int

    /// Probabilities that it gives: one for each word that it tells apart, 1 as a rule.
    public let outputs: Int
    private static let mostOutputs = 256

    let program: FloatProgram
    /// Packed weights of the dense layers.
    let weights: Memory<Float>
    /// The memory of a stream at its start.
    let initial: [Float]
    /// Places of the embeddings, `[windows × SpeechEmbedding.count]`, and of the probabilities, `[outputs]`.
    let input: Int
    let output: Int
    let kernels: KernelSet

    /// Reads a head from the bytes of a TFLite or ONNX file.
    ///
    /// - Throws: `WakeWordError.damaged`, `.unsupported` or `.size`, whose message does not name the file.
    public convenience init(bytes: [UInt8]) throws(WakeWordError) { try self.init(bytes: bytes, ModelBudget()) }

    convenience init(bytes: [UInt8], _ budget: ModelBudget) throws(WakeWordError) {
        guard bytes.count <= TFLiteFile.Limits.fileBytes else {
            throw .size.saying(
                "\(bytes.count) bytes, more than the limit of \(TFLiteFile.Limits.fileBytes); is this a wake-word model?"
            )
        }
        if TFLiteFile.isOne(bytes) {
            try self.init(tflite: TFLiteFile(bytes, budget))
        } else {
            try self.init(onnx: ONNXFile(bytes, budget))
        }
    }

    convenience init(tflite file: TFLiteFile) throws(WakeWordError) {
        var head = TFLiteHead(file)
        let (input, output) = try head.compile()
        try self.init(head.builder, input, output)
    }

    convenience init(onnx file: ONNXFile) throws(WakeWordError) {
        var head = ONNXHead(file)
        let (input, output) = try head.compile()
        try self.init(head.builder, input, output)
    }

    private init(_ builder: HeadBuilder, _ input: HeadValue, _ output: HeadValue) throws(WakeWordError) {
        var builder = builder
        guard output.count <= Self.mostOutputs else {
            throw .unsupported.saying("its output has the extents \(output.shape), not one probability for each word")
        }
        outputs = output.count
        windows = input.count / SpeechEmbedding.count
        self.input = try builder.place(input)
        self.output = try builder.place(output)
        program = FloatProgram(steps: builder.steps)
        initial = builder.initial
        kernels = .preferred
        let weights = Memory<Float>(builder.weightCount)
        for layer in builder.layers {
            packConvolution(
                weights: layer.weights,
                bias: layer.bias,
                shape: layer.shape,
                into: weights.base + layer.place
            )
        }
        self.weights = weights
    }

    /// The head, if the manifest tells which of its probabilities is the word's.
    ///
    /// - Throws: `WakeWordError.manifest`.
    func check(_ manifest: WakeWordManifest) throws(WakeWordError) -> HeadNetwork {
        guard manifest.output < outputs else {
            throw .manifest.saying("it has \(outputs) probabilities; key openWakeWord.output is \(manifest.output)")
        }
        guard outputs == 1 || manifest.hasOutput else {
            throw .manifest.saying(
                "it has \(outputs) probabilities, of several words; write a manifest for each word, with its number, from 0, in the key "
                    + "openWakeWord.output"
            )
        }
        return self
    }

    /// Embeddings that an input of this shape reads, of which each extent but the last two is 1.
    ///
    /// - Throws: `WakeWordError.unsupported` for any other shape.
    static func windows(ofInput shape: [Int]) throws(WakeWordError) -> Int {
        guard shape.count >= 2, shape.last == SpeechEmbedding.count, shape.dropLast(2).allSatisfy({ $0 == 1 }),
            (1...HeadBuilder.Limits.windows).contains(shape[shape.count - 2])
        else {
            throw .unsupported.saying(
                "its input has the extents \(shape), not [1, embeddings, \(SpeechEmbedding.count)]; "
                    + "use a model that openWakeWord trained"
            )
        }
        return shape[shape.count - 2]
    }
}

/// A head in one stream of embeddings. Before the first one there is a long silence. After `init`, nothing allocates.
struct HeadStream: ~Copyable {
    let network: HeadNetwork
    private let silence: [Float]
    private let memory: Memory<Float>

    /// Which of the probabilities is the word's.
    private let output: Int

    /// - Parameters:
    ///   - output: which of the probabilities is the word's, below `network.outputs`.
    ///   - silence: the embedding of silence, `[SpeechEmbedding.count]`.
    init(_ network: HeadNetwork, output: Int = 0, silence: [Float]) {
        self.network = network
        self.output = output
        self.silence = silence
        memory = Memory(network.initial)
        reset()
    }

    /// Returns to the state before the first embedding.
    func reset() {
        let count = network.windows * SpeechEmbedding.count
        for index in 0..<count { memory.base[network.input + index] = silence[index % SpeechEmbedding.count] }
    }

    /// Adds an embedding.
    ///
    /// - Returns: the probability of the word, 0…1.
    func add(_ embedding: UnsafePointer<Float>) -> Float {
        let (first, kept) = (memory.base + network.input, (network.windows - 1) * SpeechEmbedding.count)
        first.update(from: first + SpeechEmbedding.count, count: kept)
        (first + kept).update(from: embedding, count: SpeechEmbedding.count)
        network.program.run(memory.base, weights: network.weights.base, network.kernels)
        let probability = memory.base[network.output + output]
        return probability.isNaN ? 0 : min(max(probability, 0), 1)
    }
}
