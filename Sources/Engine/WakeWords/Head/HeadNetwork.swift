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

    let steps: [HeadStep]
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
        steps = builder.steps
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
        run()
        let probability = memory.base[network.output + output]
        return probability.isNaN ? 0 : min(max(probability, 0), 1)
    }

    private func run() {
        network.steps.withUnsafeBufferPointer { steps in
            var index = 0
            while index < steps.count { index += 1 + run(steps[index]) }
        }
    }

    /// - Returns: how many steps to leave out.
    private func run(_ step: HeadStep) -> Int {
        let memory = memory.base
        switch step {
        case .dense(let input, let output, let rows, let shape, let weights):
            network.kernels.convolve(
                memory + input,
                memory + output,
                shape.adjacentColumns(rows),
                network.weights.base + weights,
                shape,
                nil,
                false
            )
        case .apply(let function, let input, let output, let count):
            for index in 0..<count { memory[output + index] = function.value(memory[input + index]) }
        case .combine(let combination, let loops, let left, let right, let output):
            let run = loops.run
            loops.forEachRun { a, b, c in
                let (left, right, output) = (memory + left + a, memory + right + b, memory + output + c)
                for index in 0..<run.count {
                    output[index] = combination.value(left[index * run.a], right[index * run.b])
                }
            }
        case .reduce(let reduction, let loops, let members, let groupCount, let input, let output):
            let (run, group) = (loops.run, members.run)
            loops.forEachRun { a, b, _ in
                for index in 0..<run.count {
                    let start = memory + input + a + index * run.a
                    var sum = reduction == .maximum ? -Float.infinity : 0
                    members.forEachRun { member, _, _ in
                        for index in 0..<group.count {
                            let number = start[member + index * group.a]
                            sum = reduction == .maximum ? max(sum, number) : sum + number
                        }
                    }
                    memory[output + b + index] = reduction == .mean ? sum / Float(groupCount) : sum
                }
            }
        case .move(let loops, let input, let output): loops.copy(memory + input, to: memory + output)
        case .product(let product): multiply(product)
        case .recur(let recurrence): recurrence.run(memory, network.weights.base, network.kernels)
        case .quantise(let input, let output, let scale, let zero, let count):
            (memory[scale], memory[zero]) = quantise(memory + input, memory + output, count)
        case .softmax(let input, let output, let rows, let count, let scale):
            for row in 0..<rows { softmax(memory + input + row * count, memory + output + row * count, count, scale) }
        case .skipUnless(let condition, let count): return memory[condition] == 0 ? count : 0
        case .skip(let count): return count
        }
        return 0
    }

    private func softmax(
        _ input: UnsafePointer<Float>,
        _ output: UnsafeMutablePointer<Float>,
        _ count: Int,
        _ scale: Float
    ) {
        var (highest, sum) = (-Float.infinity, Float(0))
        for index in 0..<count { highest = max(highest, input[index]) }
        for index in 0..<count {
            output[index] = HeadFunction.exponential.value((input[index] - highest) * scale)
            sum += output[index]
        }
        for index in 0..<count { output[index] /= sum }
    }

    private func multiply(_ product: HeadProduct) {
        for batch in 0..<product.batches {
            let left = memory.base + product.left + batch * product.leftStride
            let right = memory.base + product.right + batch * product.rightStride
            let output = memory.base + product.output + batch * product.rows * product.columns
            for row in 0..<product.rows {
                for column in 0..<product.columns {
                    var sum: Float = 0
                    for index in 0..<product.depth {
                        sum += left[row * product.depth + index] * right[index * product.columns + column]
                    }
                    output[row * product.columns + column] = sum
                }
            }
        }
    }

    /// - Returns: the scale and the zero point.
    private func quantise(
        _ input: UnsafePointer<Float>,
        _ output: UnsafeMutablePointer<Float>,
        _ count: Int
    ) -> (scale: Float, zero: Float) {
        var (lowest, highest): (Float, Float) = (0, 0)
        for index in 0..<count {
            lowest = min(lowest, input[index])
            highest = max(highest, input[index])
        }
        let scale = highest == lowest ? 1 : (highest - lowest) / 255
        func limited(_ number: Float) -> Float { min(max(number, 0), 255) }
        let zero = limited((-lowest / scale).rounded(.toNearestOrEven))
        for index in 0..<count {
            output[index] = limited((input[index] / scale).rounded(.toNearestOrEven) + zero)
        }
        return (scale, zero)
    }
}
