private import Glibc
public import KernelInterface
import Kernels

/// The steps of a whole window, and those of a hop; the latter nil where the model does not stream.
struct Schedules: Sendable {
    let window: Schedule
    let hop: Schedule?

    init(_ network: Network, weights: borrowing PackedWeights, embeds: Bool) {
        window = Schedule.window(network, weights: weights, embeds: embeds)
        hop = network.streams ? Schedule.hops(1, network, weights: weights, embeds: embeds) : nil
    }
}

/// A keyword-spotting network, loaded and checked: immutable, and shared by any number of sessions.
public final class Model: Sendable {
    public let name: String
    /// What is reported, in order; the last two are `_unknown_` and `_silence_`, which never fire.
    public let labels: [String]
    /// Confidence above which a label may fire, by label; those of the last two mean nothing.
    public let thresholds: [Float]
    /// Samples a second that the model hears.
    public let sampleRate: Int
    /// Samples that one answer is about.
    public let windowSamples: Int
    /// Samples from one answer to the next.
    public let hopSamples: Int
    /// What the logits are divided by before they become probabilities.
    public let temperature: Float
    /// What multiplies each output's share in a clip's posteriors; empty leaves them as a stream's.
    let clipFactors: [Float]
    /// The label that each logit counts towards, as an index into `labels`.
    public let labelOfLogit: [Int]
    public let network: Network
    /// A hash of both files in 16 hexadecimal digits: tells models apart, keeps no secret.
    public let identity: String

    /// The vector code that runs it.
    public let kernels: KernelSet
    /// What its layers compute in.
    public let precision: Precision

    let frontEnd: FrontEnd
    let weights: PackedWeights
    /// What leads to posteriors and activity.
    let answering: Schedules
    /// What leads to the embedding too.
    let embedding: Schedules
    /// A hash of what makes the embedding, as `identity` is one of the whole: embeddings of one identity are alike.
    public let embeddingIdentity: String

    /// Loads `model.json` and `model.safetensors` of a folder.
    ///
    /// - Parameter kernels: what runs it; nil takes what `BECKON_KERNELS` names, or else the best that the processor has.
    /// - Parameter precision: what it computes in; nil takes what `BECKON_PRECISION` names, or else the faster one.
    /// - Throws: a `ModelError` for whatever is wrong with either file; nothing in them can trap.
    public convenience init(
        folder: String,
        kernels: InstructionSet? = nil,
        precision: Precision? = nil
    ) throws(ModelError) {
        let description = folder + "/model.json"
        let weights = folder + "/model.safetensors"
        try self.init(
            description: readFile(description, limit: Limits.descriptionBytes),
            weights: readFile(weights, limit: 1 << 29),
            names: (description, weights),
            kernels: kernels,
            precision: precision
        )
    }

    /// Takes the bytes of the two files; `names` is what error messages call them.
    public init(
        description json: [UInt8],
        weights bytes: [UInt8],
        names: (description: String, weights: String) = ("model.json", "model.safetensors"),
        kernels wanted: InstructionSet? = nil,
        precision wantedPrecision: Precision? = nil
    ) throws(ModelError) {
        kernels = try KernelSet.wanted(wanted)
        let description = try ModelDescription(json: json, file: names.description)
        try description.check(file: names.description)
        frontEnd = try FrontEnd(description, file: names.description)
        network = try Network(description, frontEnd: frontEnd, file: names.description)
        let ranges = try description.checkedRanges(network, file: names.description)
        precision = try .wanted(
            wantedPrecision,
            for: ranges,
            on: kernels.instructionSet,
            file: names.description
        )
        let tensors = try SafeTensors(bytes: bytes, file: names.weights)
        weights = try PackedWeights(
            network,
            ranges: precision == .int8 ? ranges : [:],
            layout: kernels.quantisedLayout,
            from: tensors
        )
        answering = Schedules(network, weights: weights, embeds: false)
        embedding = Schedules(network, weights: weights, embeds: true)

        name = description.name
        labels = description.labels
        thresholds = description.labels.map {
            description.thresholds[$0].map(Float.init) ?? ModelDescription.defaultThreshold
        }
        sampleRate = description.sampleRate
        windowSamples = description.windowSamples
        hopSamples = description.hopSamples
        temperature = Float(description.temperature)
        clipFactors = (description.clipShifts ?? []).map { Float(exp(-$0 / description.temperature)) }
        let places = Dictionary(uniqueKeysWithValues: zip(description.labels, description.labels.indices))
        labelOfLogit = description.outputLabels.map { places[$0] ?? description.labels.count - 1 }
        identity = hexadecimal(hash(bytes[...], hash(json[...])))
        embeddingIdentity = hexadecimal(network.embeddingHash(tensors, from: frontEnd.identity))
    }

    /// Index of `_silence_` among the labels.
    public var silenceIndex: Int { labels.count - 1 }
    /// Numbers of the embedding; 0 where the model has none.
    public var embeddingCount: Int { network.embedding.map { network.tensors[$0].channels } ?? 0 }
    /// Activity logits that each hop brings; 0 where the model has none.
    public var activityCount: Int { network.activity.map { network.tensors[$0].columnsPerHop } ?? 0 }
    /// Bytes of the weights as the kernels read them.
    public var weightBytes: Int { weights.buffer.count * MemoryLayout<Float>.stride }
    /// Bytes that each stream keeps from hop to hop.
    public var streamStateBytes: Int { (answering.hop?.count ?? 0) * MemoryLayout<Float>.stride }

    /// How the front end's columns lie in time and frequency.
    public var features: FeatureLayout { FeatureLayout(frontEnd) }

    /// The front end's columns over a window of `windowSamples` samples, channels last.
    ///
    /// - Parameter newest: how many columns, counted from the window's end; nil gives all.
    public func features(of samples: Span<Float>, newest: Int? = nil) -> [Float] {
        var run = FeatureRun(self, newest: newest ?? frontEnd.columns)
        run.run(window: samples)
        return run.columns
    }
}
