import FoundationEssentials

/// What `model.json` says, as it stands there: decoded, but not yet checked against itself.
///
/// The meaning of every key is written in `Models/FORMAT.md`.
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
    public var layers: [LayerDescription]
    public var output: String
    public var embedding: String?
    public var activity: String?
    public var outputLabels: [String]
    public var temperature: Double
    public var clipShifts: [Double]?
    public var thresholds: [String: Double]
    public var ranges: [String: Double]?

    /// The threshold of a label for which the file has none.
    public static let defaultThreshold: Float = 0.8

    /// Decodes a file's bytes; `file` is what error messages call it.
    public init(json: [UInt8], file: String) throws(ModelError) {
        do {
            self = try JSONDecoder().decode(ModelDescription.self, from: Data(json))
        } catch {
            throw .description.saying("\(file): \(explain(error)); see Models/FORMAT.md")
        }
    }
}

/// The step from samples to the first columns.
public enum FrontEndDescription: Decodable, Sendable {
    /// Normalised log-mel energies, one column a frame.
    case logMel(LogMelDescription)
    /// The samples themselves, times a factor, one column each.
    case waveform(scale: Double)

    private enum Key: String, CodingKey { case kind, scale }

    /// All its numbers.
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

/// The numbers of a log-mel front end: samples, hertz, and the two numbers of the fixed normalisation.
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
