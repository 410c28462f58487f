import Core
private import JSON

/// `model.json`, decoded but not validated; its keys are specified in `Models/FORMAT.md`.
public struct ModelDescription: Decodable, Sendable {
    public var format: String
    public var version: Int
    public var name: String
    public var labels: [String]
    public var sampleRate: Int
    public var windowSamples: Int
    public var hopSamples: Int
    public var streaming: Bool
    public var frontEnd: FrontEndDescription
    package var layers: [LayerDescription]
    public var output: String
    public var embedding: EmbeddingDescription?
    public var activity: String?
    public var outputLabels: [String]
    public var temperature: Double
    public var clipTemperature: Double?
    public var clipShifts: [Double]?
    public var clipContrast: ClipContrastDescription?
    public var thresholds: [String: Double]
    /// By sensitivity and mode, which are checked after decoding.
    public var sensitivities: [String: [String: SensitivityDescription]]?
    public var ranges: [String: Double]?
    package var confirm: ConfirmDescription?

    /// The threshold of a label for which the file gives none.
    public static let defaultThreshold: Float = 0.8

    /// Decodes the bytes of a file; `file` is its name in error messages.
    public init(json: [UInt8], file: String) throws(ModelError) {
        do {
            try self.init(json: json)
        } catch {
            throw .description.saying("\(file)\(JSONFault(error, in: json).text); see Models/FORMAT.md")
        }
    }
}

/// The layers of `model.json` whose outputs are the embedding: one name, or a list of names.
public struct EmbeddingDescription: Decodable, Sendable {
    public var layers: [String]

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let name = try? container.decode(String.self) {
            layers = [name]
        } else {
            layers = try container.decode([String].self)
        }
    }
}

/// Where a clip holds a word, in `model.json`; see ``ClipContrast``.
public struct ClipContrastDescription: Decodable, Sendable {
    public var from: Double
    public var to: Double
    public var over: Int
    public var lead: Double
}

/// The front end of `model.json`, which computes the network's input columns from samples.
public enum FrontEndDescription: Decodable, Sendable {
    /// Normalised log-mel energies, one column per frame.
    case logMel(LogMelDescription)
    /// The samples times a factor, one column each.
    case waveform(scale: Double)

    private enum Key: String, CodingKey { case kind, scale }

    /// All parameters as text, which is hashed; changing it changes the identity of embeddings.
    var text: String {
        switch self {
        case .waveform(let scale): return "waveform \(scale)"
        case .logMel(let numbers):
            let samples = [numbers.frameSamples, numbers.hopSamples, numbers.fftSize, numbers.bands]
            return
                "log-mel \(samples) \([numbers.lowHertz, numbers.highHertz, numbers.floor, numbers.mean, numbers.deviation])"
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let kind = try container.decode(String.self, forKey: .kind)
        switch kind {
        case "log-mel": self = .logMel(try LogMelDescription(from: decoder))
        case "waveform": self = .waveform(scale: try container.decode(Double.self, forKey: .scale))
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .kind,
                in: container,
                debugDescription: "unknown front end \(quoted(kind)), not log-mel or waveform"
            )
        }
    }
}

/// Parameters of a log-mel front end; see `LogMelShape`.
public struct LogMelDescription: Decodable, Sendable {
    public var frameSamples: Int
    public var hopSamples: Int
    public var fftSize: Int
    public var bands: Int
    public var lowHertz: Double
    public var highHertz: Double
    public var floor: Double
    public var mean: Double
    public var deviation: Double
}

extension ModelDescription {
    /// Validates everything that does not depend on the layers.
    func validate(file: String) throws(ModelError) {
        func wrong(_ key: String, _ what: String) -> ModelError { self.wrong(key, what, file) }
        func within(_ key: String, _ value: Int, _ range: ClosedRange<Int>) throws(ModelError) {
            guard range.contains(value) else {
                throw wrong(key, "\(value) is not from \(range.lowerBound) to \(range.upperBound)")
            }
        }
        guard format == "beckon-model" else { throw wrong("format", "\(quoted(format)), not “beckon-model”") }
        guard (1...2).contains(version) else {
            throw wrong("version", "\(version); this program reads versions 1 and 2")
        }
        guard confirm == nil || version == 2 else { throw wrong("confirm", "needs version 2, but this is version 1") }

        guard (3...Limits.labels).contains(labels.count) else {
            throw wrong("labels", "\(labels.count) labels, not from 3 to \(Limits.labels)")
        }
        guard Array(labels.suffix(Labels.special.count)) == Labels.special else {
            throw wrong("labels", "the last two are not _unknown_ and _silence_")
        }
        var seen: Set<String> = []
        for label in labels {
            guard !label.isEmpty, !label.contains(where: \.isWhitespace), isReadableName(label),
                label.utf8.count <= Limits.labelBytes
            else {
                throw wrong(
                    "labels",
                    "\(quoted(label)) is empty, too long, or holds a space, a control or an invisible character"
                )
            }
            guard seen.insert(label).inserted else { throw wrong("labels", "\(quoted(label)) is listed twice") }
        }
        for label in outputLabels where !seen.contains(label) {
            throw wrong("outputLabels", "\(quoted(label)) is not among the labels")
        }

        try within("sampleRate", sampleRate, 1_000...Limits.sampleRate)
        try within("windowSamples", windowSamples, 1...Limits.windowSamples)
        try within("hopSamples", hopSamples, 1...windowSamples)
        let clipTemperature = clipTemperature ?? temperature
        for (key, value) in [("temperature", temperature), ("clipTemperature", clipTemperature)] {
            guard value.isFinite, value >= 1e-3, value <= 1e3 else {
                throw wrong(key, "\(value) is not from 0.001 to 1000")
            }
        }
        if let clipShifts {
            guard clipShifts.count == outputLabels.count else {
                throw wrong("clipShifts", "\(clipShifts.count) numbers for \(outputLabels.count) outputs")
            }
            for shift in clipShifts where !(abs(shift) <= 50 * clipTemperature) {
                throw wrong("clipShifts", "\(shift) is not from -50 to 50 times the temperature of clips")
            }
        }
        try validateContrast(file: file)
        try validate(thresholds, key: "thresholds", file: file)
    }

    private func validateContrast(file: String) throws(ModelError) {
        guard let clipContrast else { return }
        func wrong(_ what: String) -> ModelError { self.wrong("clipContrast", what, file) }
        _ = try ContrastRange(clipContrast.from, clipContrast.to, wrong: wrong)
        let (over, lead) = (clipContrast.over, clipContrast.lead)
        guard outputLabels.indices.contains(over), Labels.special.contains(outputLabels[over]) else {
            throw wrong("output \(over) is not one of _unknown_ or _silence_")
        }
        guard lead >= 0, lead <= 50 * (clipTemperature ?? temperature) else {
            throw wrong("a lead of \(lead) is not from 0 to 50 times the temperature of clips")
        }
        guard case .logMel = frontEnd else { throw wrong("is given, but the front end is not log-mel") }
    }

    /// The error for a value that `key` must not have.
    func wrong(_ key: String, _ what: String, _ file: String) -> ModelError {
        .description.saying("\(file): key “\(key)”: \(what); see Models/FORMAT.md")
    }

    /// The input ranges of quantised layers by tensor, after validation; larger inputs will be clamped.
    func validatedRanges(_ network: Network, file: String) throws(ModelError) -> [String: Double] {
        let names = Set(network.tensors.map(\.name))
        for (name, range) in (ranges ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard names.contains(name) else {
                throw .description.saying("\(file): key “ranges”: no layer is called \(quoted(name))")
            }
            guard range >= 1e-6, range <= 1e6 else {
                throw .description.saying("\(file): key “ranges”: \(range) of \(quoted(name)) is not from 1e-6 to 1e6")
            }
        }
        return ranges ?? [:]
    }
}

/// The largest numbers that a model may use: large enough for keyword spotting, small enough that their products do not
/// overflow and that no file can make the program allocate without limit.
enum Limits {
    static let descriptionBytes = 1 << 20
    static let weightFileBytes = 1 << 29
    static let labels = 1_000
    static let embeddingParts = 8
    static let labelBytes = 64
    static let layers = 1_024
    static let sampleRate = 384_000
    static let windowSamples = 1 << 21
    static let bands = 1_024
    static let channels = 1 << 22
    /// Parameters of `mean`, `crop` and `middleFrames`.
    static let columns = 1 << 21
    /// Kernel, stride, dilation and padding.
    static let kernel = 1 << 16
    /// Inputs of a sum.
    static let addends = 8
    static let confirmingNetworks = 4
    static let confirmingShifts = 8
    /// Number of weights, both stored and packed.
    static let weights = 1 << 28
    /// Floats of all tensors for one window.
    static let activations = 1 << 26
    static let multiplyAdds = 1 << 36
}
