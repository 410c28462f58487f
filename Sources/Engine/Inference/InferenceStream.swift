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
/// array is kept from one call to the next (read them through `.span`). A session may move between threads but serves one at a time.
/// It starts in the state after endless digital silence.
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

    private let plans: ExecutionPlans
    private let calibration: Calibration
    private let arena: Arena
    private let stream: Arena.Region
    /// The state after endless digital silence; that of a window, where the model does not stream.
    private let silence: Arena.Region
    /// A copy of the stream, for `lookAhead`.
    private let lookahead: Arena.Region
    private let wholeWindow: Arena.Region
    /// Scratch memory of the front end.
    private let scratch: Arena.Region
    private let probabilities: Arena.Region
    /// The features of a window and a float for each of its columns, for ``ClipContrast``; empty where there is none.
    private let contrastColumns: Arena.Region
    private let contrastPowers: Arena.Region
    private let contrast: ClipContrast?
    /// How far something stands out of the background of the newest window, 0…1.
    private var foreground: Float

    /// - Parameter embeds: whether to compute embeddings, which may need layers of their own.
    public init(_ model: Model, prior: Prior = .stream, embeds: Bool = false) {
        self.init(unset: model, prior, embeds: embeds)
        reset()
    }

    /// A session whose outputs are still those of no audio. Swift 6.2 calls mutating methods only after another `init`.
    private init(unset model: Model, _ prior: Prior, embeds: Bool) {
        self.model = model
        // Not read from self: `??` would capture it before it is whole, and Swift 6.3 then ends an arena that does not exist yet.
        let plans = embeds ? model.embeddingPlans : model.plans
        self.plans = plans
        calibration = Calibration(model, prior: prior)
        let logitCount = model.labelOfLogit.count
        let stateCount = plans.hop?.count ?? 0
        var layout = Arena.Layout()
        stream = layout.reserve(stateCount)
        silence = layout.reserve(plans.hop?.count ?? plans.window.count)
        lookahead = layout.reserve(stateCount)
        wholeWindow = layout.reserve(plans.window.count)
        scratch = layout.reserve(model.frontEnd.scratchCount)
        probabilities = layout.reserve(logitCount)
        contrast = prior == .clip ? model.clipContrast : nil
        contrastColumns = layout.reserve(contrast == nil ? 0 : model.frontEnd.columns * model.frontEnd.channels)
        contrastPowers = layout.reserve(contrast == nil ? 0 : model.frontEnd.columns)
        foreground = contrast == nil ? 1 : 0
        arena = Arena(layout)
        logits = Array(repeating: 0, count: logitCount)
        posteriors = Array(repeating: 0, count: model.labels.count)
        lookaheadPosteriors = posteriors
        embedding = Array(repeating: 0, count: embeds ? model.embeddingCount : 0)
        lookaheadEmbedding = embedding
        activity = Array(repeating: 0, count: model.activityCount)

        // Silence is computed once; `reset` copies the result.
        let zeros = [Float](repeating: 0, count: model.windowSamples)
        model.run(
            plans.window,
            zeros.span.extracting(model.frontEnd.samples(ofNewest: plans.window.inputColumns)),
            state: arena[wholeWindow],
            scratch: arena[scratch]
        )
        copyWindowToStream()
        arena.copy(plans.hop == nil ? wholeWindow : stream, to: silence)
    }

    /// Scores the next hop, given the newest `windowSamples` samples.
    ///
    /// A streaming model reads only the end of the window: the hop and the samples before it that the front end's frames overlap.
    /// Calls must then follow each other hop by hop; after a gap, call `scoreWhole` or `reset`. A model that does not stream computes
    /// the whole window.
    public mutating func score(window samples: Span<Float>) {
        guard let hop = plans.hop else { return scoreWhole(window: samples) }
        runHop(hop, samples, in: stream)
        measureContrast(samples)
        readOutputs(hop, from: stream)
    }

    /// Computes `lookaheadPosteriors` and `lookaheadEmbedding`: the results of `score` for this window. The stream's
    /// state does not change.
    public mutating func lookAhead(window samples: Span<Float>) {
        let plan: ExecutionPlan
        let block: UnsafeMutablePointer<Float>
        if let hop = plans.hop {
            arena.copy(stream, to: lookahead)
            runHop(hop, samples, in: lookahead)
            (plan, block) = (hop, arena[lookahead])
        } else {
            runWindow(samples)
            (plan, block) = (plans.window, arena[wholeWindow])
        }
        _ = calibration.apply(
            block + plan.output,
            to: &lookaheadPosteriors,
            foreground: foreground,
            scratch: arena[probabilities]
        )
        plan.embedding?.read(from: block, into: &lookaheadEmbedding)
    }

    /// Scores a whole window of `windowSamples` samples, and leaves the stream as if it had been scored hop by hop.
    public mutating func scoreWhole(window samples: Span<Float>) {
        runWindow(samples)
        copyWindowToStream()
        measureContrast(samples)
        readOutputs(plans.window, from: wholeWindow)
    }

    /// Returns to the state after endless digital silence.
    public mutating func reset() {
        if plans.hop != nil { arena.copy(silence, to: stream) }
        if contrast != nil { foreground = 0 }
        readOutputs(plans.hop ?? plans.window, from: silence)
    }

    /// Copies the stream's state, as laid out by the model's hop plan.
    func copyState(to target: UnsafeMutablePointer<Float>) {
        target.update(from: arena[stream], count: stream.count)
    }

    private func runHop(_ hop: ExecutionPlan, _ samples: Span<Float>, in region: Arena.Region) {
        checkCount(samples)
        hop.layout.shiftHistory(arena[region])
        let newest = model.frontEnd.samples(ofNewest: hop.inputColumns)
        model.run(hop, samples.extracting(newest), state: arena[region], scratch: arena[scratch])
    }

    private func runWindow(_ samples: Span<Float>) {
        checkCount(samples)
        let newest = model.frontEnd.samples(ofNewest: plans.window.inputColumns)
        model.run(plans.window, samples.extracting(newest), state: arena[wholeWindow], scratch: arena[scratch])
    }

    private mutating func measureContrast(_ samples: Span<Float>) {
        guard let contrast else { return }
        let frontEnd = model.frontEnd
        let (features, columns) = (arena[contrastColumns], frontEnd.columns)
        frontEnd.run(
            samples.extracting(frontEnd.samples(ofNewest: columns)),
            columns: columns,
            to: features,
            scratch: arena[scratch],
            kernels: model.kernels
        )
        foreground = contrast.foreground(
            of: features,
            columns: columns,
            bands: frontEnd.channels,
            powers: arena[contrastPowers]
        )
    }

    private func checkCount(_ samples: Span<Float>) {
        precondition(samples.count == model.windowSamples, "a window has \(model.windowSamples) samples")
    }

    /// Copies the newest columns of the whole window into the stream's buffers.
    private func copyWindowToStream() {
        guard let hop = plans.hop else { return }
        hop.layout.copy(plans.window.layout, arena[wholeWindow], to: arena[stream])
    }

    private mutating func readOutputs(_ plan: ExecutionPlan, from region: Arena.Region) {
        let block = arena[region]
        for index in logits.indices { logits[index] = block[plan.output + index] }
        plan.embedding?.read(from: block, into: &embedding)
        for index in activity.indices { activity[index] = block[plan.activity + index] }
        isFinite = calibration.apply(logits, to: &posteriors, foreground: foreground, scratch: arena[probabilities])
    }
}
