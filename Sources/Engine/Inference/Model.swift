public import Core
private import Glibc
public import KernelInterface
import Kernels
private import Synchronization
private import System

/// A keyword-spotting network, loaded and validated: immutable, and shared by any number of sessions.
public final class Model: Sendable {
    public let name: String
    /// Names of the posteriors, in order; the last two are `_unknown_` and `_silence_`, which never fire.
    public let labels: [String]
    /// Confidence above which a label may fire, `[labels]`, for each sensitivity and mode that the model has; `balanced`
    /// has them in both modes. The last two of each are unused.
    public let thresholds: SensitivityTable<[Float]>
    /// Samples per second.
    public let sampleRate: Int
    /// Samples of the window on which one result depends.
    public let windowSamples: Int
    /// Samples from one result to the next.
    public let hopSamples: Int
    /// Divisor of the logits in the softmax.
    public let temperature: Float
    /// The same where a single clip is scored: a clip's posterior is a mean of several, which is less sure than one.
    let clipTemperature: Float
    /// What is subtracted from each logit of a clip, over `clipTemperature`, `[logits]`; empty for none.
    let clipShifts: [Float]
    /// How far something stands out of a clip's background, and what words need where nothing does; nil if that is not measured.
    let clipContrast: ClipContrast?
    /// Index into `labels` of the label that each logit counts towards, `[logits]`.
    public let labelOfLogit: [Int]
    public let network: Network
    /// The networks that confirm what this one proposes; nil without.
    public let confirmation: ConfirmingNetworks?
    /// Whether they were loaded, or left out, or whether the model has none.
    public let confirmationState: ConfirmationState
    /// The kernels that run it.
    public let kernels: KernelSet
    /// The arithmetic of its layers.
    public let precision: Precision

    public let frontEnd: FrontEnd
    let weights: PackedWeights
    /// For streams that compute posteriors and activity.
    private let streams: StreamMemory
    /// For streams that also compute the embedding; nil until they are needed.
    private let embeddingStreams = Mutex<StreamMemory?>(nil)
    private let files: ModelFiles

    /// Loads `model.json`, `model.safetensors` and, for confirming networks, `confirm.safetensors` from a folder.
    ///
    /// - Parameters:
    ///   - kernels: nil selects those that `BECKON_KERNELS` names, or else the fastest that the processor can run.
    ///   - precision: nil selects the one that `BECKON_PRECISION` names, or else the faster one.
    ///   - confirms: whether to load confirming networks, where the model has some.
    /// - Throws: a `ModelError` for anything that is wrong with the files; no content of theirs can trap.
    public convenience init(
        folder: String,
        kernels: InstructionSet? = nil,
        precision: Precision? = nil,
        confirms: Bool = true
    ) throws(ModelError) {
        let (description, confirm) = (folder + "/model.json", folder + "/confirm.safetensors")
        // Whether the model needs the file is known later; one that is missing is reported then.
        let hasFile = confirms && fileExists(confirm)
        let bytes = try readModelFile(description, limit: Limits.descriptionBytes)
        let weights: SafeTensors
        do {
            weights = try SafeTensors(opening: folder + "/model.safetensors")
        } catch {
            // What is wrong with the description is said first.
            _ = try ModelDescription(json: bytes, file: description)
            throw error
        }
        try self.init(
            ModelFiles(
                description: bytes,
                weights: weights,
                confirm: hasFile ? SafeTensors(opening: confirm) : nil,
                names: (description, confirm)
            ),
            confirms,
            kernels,
            precision
        )
    }

    /// Loads a model from the bytes of its files; `names` are their names in error messages.
    ///
    /// - Parameters:
    ///   - confirm: the weights of the confirming networks; nil where there is no such file.
    ///   - confirms: whether to load confirming networks, where the model has some.
    public convenience init(
        description: [UInt8],
        weights: [UInt8],
        confirm: [UInt8]? = nil,
        names: (description: String, weights: String, confirm: String) = (
            "model.json", "model.safetensors", "confirm.safetensors"
        ),
        confirms: Bool = true,
        kernels: InstructionSet? = nil,
        precision: Precision? = nil
    ) throws(ModelError) {
        try self.init(
            ModelFiles(
                description: description,
                weights: SafeTensors(bytes: weights, file: names.weights),
                confirm: confirm.map { bytes throws(ModelError) in try SafeTensors(bytes: bytes, file: names.confirm) },
                names: (names.description, names.confirm)
            ),
            confirms,
            kernels,
            precision
        )
    }

    private init(
        _ files: consuming ModelFiles,
        _ confirms: Bool,
        _ requestedKernels: InstructionSet?,
        _ requestedPrecision: Precision?
    ) throws(ModelError) {
        kernels = try KernelSet.select(requestedKernels)
        let names = files.names
        let description = try ModelDescription(json: files.description, file: names.description)
        try description.validate(file: names.description)
        frontEnd = try FrontEnd(description, file: names.description)
        network = try Network(description, frontEnd: frontEnd, file: names.description)
        let ranges = try description.validatedRanges(network, file: names.description)
        precision = try .select(
            requestedPrecision,
            for: ranges,
            on: kernels.instructionSet,
            file: names.description
        )
        let loading = try Self.confirmation(
            description,
            from: files.confirm,
            confirms: confirms,
            names: names,
            isQuantised: precision == .int8,
            kernels: kernels
        )
        weights = try PackedWeights(
            network,
            late: zip(network.required(embeds: true), network.required(embeds: false)).dropFirst().map { $0 && !$1 },
            ranges: precision == .int8 ? ranges : [:],
            kernels: kernels,
            from: files.weights
        )
        confirmation = try loading?.value()
        // Each thread that loaded has kept what it freed.
        if loading != nil { FreeMemory.giveBack() }
        confirmationState = confirmation != nil ? .on : description.confirm != nil ? .off : .missing
        streams = StreamMemory(
            ExecutionPlans(network, weights: weights, embeds: false),
            frontEnd,
            windowSamples: description.windowSamples,
            logits: description.outputLabels.count
        )

        name = description.name
        labels = description.labels
        thresholds = try description.validatedThresholds(
            isConfirmed: confirmationState == .on,
            file: names.description
        )
        sampleRate = description.sampleRate
        windowSamples = description.windowSamples
        hopSamples = description.hopSamples
        temperature = Float(description.temperature)
        let clipTemperature = description.clipTemperature ?? description.temperature
        self.clipTemperature = Float(clipTemperature)
        clipShifts = (description.clipShifts ?? []).map { Float($0 / clipTemperature) }
        clipContrast = try description.contrastOfClips(file: names.description)
        let indices = Dictionary(uniqueKeysWithValues: zip(description.labels, description.labels.indices))
        labelOfLogit = description.outputLabels.map { indices[$0] ?? description.labels.count - 1 }
        self.files = files
    }

    /// Begins to load the confirming networks; nil where there are none, or they are not wanted.
    private static func confirmation(
        _ description: ModelDescription,
        from tensors: SafeTensors?,
        confirms: Bool,
        names: (description: String, confirm: String),
        isQuantised: Bool,
        kernels: KernelSet
    ) throws(ModelError) -> Loading<ConfirmingNetworks>? {
        guard confirms, let confirm = description.confirm else { return nil }
        guard let tensors else {
            throw .unreadable.saying(
                "\(names.confirm): no such file, but \(names.description) has “confirm”; copy the whole folder"
            )
        }
        return Loading { () throws(ModelError) in
            try ConfirmingNetworks(
                confirm,
                labels: description.labels,
                measuresContrast: description.clipContrast != nil,
                sampleRate: description.sampleRate,
                isQuantised: isQuantised,
                kernels: kernels,
                from: tensors,
                file: names.description
            )
        }
    }

    /// Plans that compute posteriors and activity.
    var plans: ExecutionPlans { streams.plans }

    /// Loads the layers that only the embedding needs, unless they are there: most of the weights, which only taught words need.
    ///
    /// - Throws: a `ModelError` where the file is damaged, or is not what it was when the model was loaded.
    public func loadEmbedding() throws(ModelError) { _ = try streamsWithEmbedding() }

    private func streamsWithEmbedding() throws(ModelError) -> StreamMemory {
        try embeddingStreams.withLock { known throws(ModelError) in
            if let known { return known }
            try weights.packLate(network, from: files.weights)
            let streams = StreamMemory(
                ExecutionPlans(network, weights: weights, embeds: true),
                frontEnd,
                windowSamples: windowSamples,
                logits: labelOfLogit.count
            )
            known = streams
            return streams
        }
    }

    /// What streams share, with or without embeddings. Those cannot be computed, and stay zero, where ``loadEmbedding()`` throws.
    func streamMemory(embeds: Bool) -> StreamMemory {
        embeds ? (try? streamsWithEmbedding()) ?? streams : streams
    }

    /// A hash of all files in 16 hexadecimal digits, to tell models apart; not cryptographic. It reads them.
    public var identity: String { files.identity(confirms: confirmation != nil) }

    /// A hash, like `identity`, of the front end and the layers on which the embedding depends: embeddings of models
    /// with the same value are comparable.
    public var embeddingIdentity: String { files.embeddingIdentity(network, frontEnd) }

    /// Index of `_silence_` among the labels.
    public var silenceIndex: Int { Labels(labels).silenceIndex }
    /// Dimensions of the embedding; 0 where the model has none.
    public var embeddingCount: Int { network.embedding.reduce(0) { $0 + network.tensors[$1].channels } }
    /// Activity logits per hop; 0 where the model has no activity layer.
    public var activityCount: Int { network.activity.map { network.tensors[$0].columnsPerHop } ?? 0 }
    /// Multiply-adds for the newest scores of a whole window, without the layers that only the embedding needs.
    public var multiplyAddsPerWindow: Int { plans.window.multiplyAdds }
    /// Multiply-adds per hop: for the new columns, or for a whole window where the model does not stream.
    public var multiplyAddsPerHop: Int { plans.hop?.multiplyAdds ?? plans.window.multiplyAdds }
    /// Bytes of the packed weights.
    public var weightBytes: Int { weights.count * MemoryLayout<Float>.stride }
    /// Bytes of state of each stream.
    public var streamStateBytes: Int { (plans.hop?.count ?? 0) * MemoryLayout<Float>.stride }

    /// The front end's columns of a window of `windowSamples` samples, `[columns × channels]`.
    ///
    /// - Parameter newest: number of columns, counted from the window's end; nil for all.
    public func features(of samples: Span<Float>, newest: Int? = nil) -> [Float] {
        var extractor = FeatureExtractor(self, newest: newest ?? frontEnd.columns)
        extractor.run(window: samples)
        return extractor.columns
    }

    /// Runs the front end, then a plan's layers, over the state of one stream.
    ///
    /// - Parameters:
    ///   - samples: the samples of the plan's input columns.
    ///   - scratch: the front end's `scratchCount` floats.
    func run(
        _ plan: ExecutionPlan,
        _ samples: Span<Float>,
        state: UnsafeMutablePointer<Float>,
        scratch: UnsafeMutablePointer<Float>
    ) {
        frontEnd.run(
            samples,
            columns: plan.inputColumns,
            to: state + plan.inputOffset,
            scratch: scratch,
            kernels: kernels
        )
        plan.run(state, weights: weights.base, kernels: kernels)
    }
}
