import KernelInterface

/// The speech embedding of one stream of samples. Before the first sample there is a long silence. After `init`, nothing allocates.
public final class EmbeddingStream {
    let embedding: SpeechEmbedding
    private var frontEnd: MelFrontEnd
    private let memory: Memory<Float>

    public init(_ embedding: SpeechEmbedding) {
        self.embedding = embedding
        frontEnd = MelFrontEnd(embedding.kernels)
        memory = Memory(embedding.plan.memoryCount)
        memory.base.update(from: embedding.initial.base, count: memory.count)
    }

    /// Returns to the state before the first sample.
    public func reset() {
        frontEnd.reset()
        memory.base.update(from: embedding.initial.base, count: memory.count)
    }

    /// Adds a sample at 16 kHz.
    ///
    /// - Returns: whether the embedding is new, as after each 1280 samples.
    public func add(_ sample: Int16) -> Bool {
        guard frontEnd.add(sample) else { return false }
        embedding.plan.run(
            frontEnd.features.base,
            memory.base,
            weights: embedding.weights.base,
            kernels: embedding.kernels
        )
        return true
    }

    /// The newest embedding, `[SpeechEmbedding.count]`. It is valid until the next sample is added.
    public var newest: UnsafePointer<Float> { UnsafePointer(memory.base + embedding.plan.output) }
}
