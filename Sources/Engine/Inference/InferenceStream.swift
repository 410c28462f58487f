/// How often the audio of a session contains a command. The posteriors depend on it.
public enum Prior: Sendable {
    /// Long recordings of talk and noise with few commands, as in training.
    case stream
    /// Clips of single words, most of them commands: the model's `clipShifts` apply.
    case clip
}

/// One stream of audio through a model: the state of its layers, and the outputs of the newest hop.
///
/// `init` allocates all memory; `score`, `scoreWhole`, `lookAhead` and `reset` allocate nothing, provided that no copy of an output
/// array is kept from one call to the next (read them through `.span`), and that no more than two threads run streams of the model at the
/// same time. A stream may move between threads but serves one at a time. It starts in the state after endless digital silence.
public struct InferenceStream: ~Copyable, Sendable {
    public let model: Model
    /// The network's output before calibration, `[logits]`.
    public private(set) var logits: [Float]
    /// Probability of each label, `[labels]`: the calibrated softmax of the logits, summed by label.
    public private(set) var posteriors: [Float]
    /// Output of the model's embedding layer, or of several, each scaled to length √(1 / layers); empty where the model has none, or
    /// `embeds` was false.
    public private(set) var embedding: [Float]
    /// Logits of speech, one for each equal part of the newest hop, oldest first; empty where the model has no activity
    /// layer. NaN or infinite after samples that are NaN or infinite.
    public private(set) var activity: [Float]
    /// The posteriors after the hop given to `lookAhead`, `[labels]`.
    public private(set) var lookaheadPosteriors: [Float]
    /// The embedding after the hop given to `lookAhead`.
    public private(set) var lookaheadEmbedding: [Float]
    /// Whether all logits are finite; if not, the posteriors are those of silence.
    ///
    /// It is false while the window contains a NaN or infinite sample.
    public private(set) var isFinite = true

    private let memory: StreamMemory
    private let calibration: Calibration
    /// The layers' newest columns; empty where the model does not stream.
    private let state: Arena
    private let silence: SilentState
    private let contrast: ClipContrast?
    /// How far something stands out of the background of the newest window, in dB; infinite where the model does not measure it.
    package private(set) var clipContrast: Float
    /// The same, 0…1.
    private var foreground: Float { contrast?.range.foreground(clipContrast) ?? 1 }

    private var plans: ExecutionPlans { memory.plans }

    /// - Parameter embeds: whether to compute embeddings, which may need layers of their own.
    public init(_ model: Model, prior: Prior = .stream, embeds: Bool = false) {
        self.init(unset: model, prior, embeds: embeds)
        reset()
    }

    /// A session whose outputs are still those of no audio. Swift 6.2 calls mutating methods only after another `init`.
    private init(unset model: Model, _ prior: Prior, embeds: Bool) {
        self.model = model
        // Not read from self: `??` would capture it before it is whole, and Swift 6.3 then ends an arena that does not exist yet.
        let memory = model.streamMemory(embeds: embeds)
        self.memory = memory
        memory.reserve()
        silence = memory.silence(of: model)
        calibration = Calibration(model, prior: prior)
        var layout = Arena.Layout()
        _ = layout.reserve(memory.plans.hop?.count ?? 0)
        state = Arena(layout)
        contrast = prior == .clip ? model.clipContrast : nil
        clipContrast = contrast == nil ? .infinity : 0
        logits = Array(repeating: 0, count: model.labelOfLogit.count)
        posteriors = Array(repeating: 0, count: model.labels.count)
        lookaheadPosteriors = posteriors
        embedding = Array(repeating: 0, count: embeds ? model.embeddingCount : 0)
        lookaheadEmbedding = embedding
        activity = Array(repeating: 0, count: model.activityCount)
    }

    /// Scores the next hop, given the newest `windowSamples` samples.
    ///
    /// A streaming model reads only the end of the window: the hop and the samples before it that the front end's frames overlap.
    /// Calls must then follow each other hop by hop; after a gap, call `scoreWhole` or `reset`. A model that does not stream computes
    /// the whole window.
    public mutating func score(window samples: Span<Float>) {
        let memory = memory
        memory.withScratch { scratch in
            guard let hop = memory.plans.hop else { return scoreWhole(window: samples, scratch) }
            runHop(hop, samples, in: state.base, scratch)
            measureContrast(samples, scratch)
            readOutputs(hop, from: state.base, scratch)
        }
    }

    /// Computes `lookaheadPosteriors` and `lookaheadEmbedding`: the results of `score` for a window. The stream's
    /// state does not change.
    ///
    /// - Parameter fill: writes the `windowSamples` samples of the window.
    public mutating func lookAhead(_ fill: (UnsafeMutableBufferPointer<Float>) -> Void) {
        let memory = memory
        memory.withScratch { scratch in
            fill(scratch.samples)
            let samples = UnsafeBufferPointer(scratch.samples).span
            let (plan, block) = (memory.plans.hop ?? memory.plans.window, lookaheadBlock(scratch))
            if let hop = memory.plans.hop {
                block.update(from: state.base, count: hop.count)
                runHop(hop, samples, in: block, scratch)
            } else {
                runWindow(samples, scratch)
            }
            _ = calibration.apply(
                block + plan.output,
                to: &lookaheadPosteriors,
                foreground: foreground,
                scratch: scratch.probabilities
            )
            plan.embedding?.read(from: block, into: &lookaheadEmbedding)
        }
    }

    private func lookaheadBlock(_ scratch: StreamScratch) -> UnsafeMutablePointer<Float> {
        plans.hop == nil ? scratch.window : scratch.lookahead
    }

    /// Scores a whole window of `windowSamples` samples, and leaves the stream as if it had been scored hop by hop.
    public mutating func scoreWhole(window samples: Span<Float>) {
        let memory = memory
        memory.withScratch { scoreWhole(window: samples, $0) }
    }

    private mutating func scoreWhole(window samples: Span<Float>, _ scratch: StreamScratch) {
        runWindow(samples, scratch)
        if let hop = plans.hop { hop.layout.copy(plans.window.layout, scratch.window, to: state.base) }
        measureContrast(samples, scratch)
        readOutputs(plans.window, from: scratch.window, scratch)
    }

    /// Returns to the state after endless digital silence.
    public mutating func reset() {
        if let hop = plans.hop { state.base.update(from: silence.base, count: hop.count) }
        if contrast != nil { clipContrast = 0 }
        let memory = memory
        memory.withScratch { readOutputs(memory.plans.hop ?? memory.plans.window, from: silence.base, $0) }
    }

    /// Copies the stream's state, as laid out by the model's hop plan.
    func copyState(to target: UnsafeMutablePointer<Float>) {
        target.update(from: state.base, count: plans.hop?.count ?? 0)
    }

    private func runHop(
        _ hop: ExecutionPlan,
        _ samples: Span<Float>,
        in block: UnsafeMutablePointer<Float>,
        _ scratch: StreamScratch
    ) {
        checkCount(samples)
        hop.layout.shiftHistory(block)
        let newest = model.frontEnd.samples(ofNewest: hop.inputColumns)
        model.run(hop, samples.extracting(newest), state: block, scratch: scratch.frontEnd)
    }

    private func runWindow(_ samples: Span<Float>, _ scratch: StreamScratch) {
        checkCount(samples)
        let newest = model.frontEnd.samples(ofNewest: plans.window.inputColumns)
        model.run(plans.window, samples.extracting(newest), state: scratch.window, scratch: scratch.frontEnd)
    }

    private mutating func measureContrast(_ samples: Span<Float>, _ scratch: StreamScratch) {
        guard let contrast else { return }
        let frontEnd = model.frontEnd
        let columns = frontEnd.columns
        frontEnd.run(
            samples.extracting(frontEnd.samples(ofNewest: columns)),
            columns: columns,
            to: scratch.columns,
            scratch: scratch.frontEnd,
            kernels: model.kernels
        )
        clipContrast = contrast.decibels(
            of: scratch.columns,
            columns: columns,
            bands: frontEnd.channels,
            powers: scratch.powers
        )
    }

    private func checkCount(_ samples: Span<Float>) {
        precondition(samples.count == model.windowSamples, "a window has \(model.windowSamples) samples")
    }

    private mutating func readOutputs(
        _ plan: ExecutionPlan,
        from block: UnsafeMutablePointer<Float>,
        _ scratch: StreamScratch
    ) {
        for index in logits.indices { logits[index] = block[plan.output + index] }
        plan.embedding?.read(from: block, into: &embedding)
        for index in activity.indices { activity[index] = block[plan.activity + index] }
        isFinite = calibration.apply(logits, to: &posteriors, foreground: foreground, scratch: scratch.probabilities)
    }
}
