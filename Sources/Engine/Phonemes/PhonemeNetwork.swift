public import Inference
import JSON
public import KernelInterface
public import Kernels

/// A published network that tells which speech sounds are in audio: the package `hama`'s, a Conformer with CTC outputs.
///
/// Shared by all streams, and immutable. `Models/phonemes/README.md` is its card.
public final class PhonemeNetwork: Sendable {
    /// Samples at 16 kHz from one answer to the next.
    public static let frameSamples = 2 * PhonemeFrontEnd.hopSamples
    /// The name of the symbol that says: no sound begins here.
    public static let blankName = "<blank>"
    /// The name of the symbol between two words.
    public static let boundaryName = "<wb>"

    /// What each output stands for: IPA, and special names in angle brackets.
    public let symbols: [String]
    /// The place of the blank among the symbols.
    public let blank: Int
    /// The folder that it was read from.
    public let folder: String

    let kernels: KernelSet
    let frontEnd: PhonemeFrontEnd
    private let layers: [LayerDescription]
    private let weights: PackedWeights

    /// Reads the network of a folder: `phonemes.json` and `network.safetensors`.
    ///
    /// - Throws: `ModelError`, which names the file.
    public init(folder: String, kernels: KernelSet = .preferred) throws(ModelError) {
        symbols = try PhonemeDescription(folder: folder).symbols
        guard let blank = symbols.firstIndex(of: Self.blankName) else {
            throw PhonemeDescription.wrong(folder, "no symbol is called \(Self.blankName)")
        }
        self.blank = blank
        self.folder = folder
        self.kernels = kernels
        let file = try SafeTensors(path: folder + "/network.safetensors")
        frontEnd = try PhonemeFrontEnd(file)
        layers = PhonemeLayers(outputs: symbols.count).layers
        let network = try Self.network(layers, frames: PhonemeFrontEnd.frames(Self.usualSamples))
        weights = try PackedWeights(
            network,
            ranges: try file.ranges(of: layers.filter(\.isMatrix)),
            kernels: kernels,
            from: file
        )
    }

    /// The weights do not depend on it.
    private static let usualSamples = 32_000

    private static func network(_ layers: [LayerDescription], frames: Int) throws(ModelError) -> Network {
        try Network(
            layers,
            input: PhonemeLayers.input,
            columns: frames,
            channels: PhonemeLayers.bands,
            place: "the phoneme network"
        )
    }

    /// How it runs over so many frames of the front end; nil where it cannot.
    func plan(frames: Int) -> ExecutionPlan? {
        guard let network = try? Self.network(layers, frames: frames) else { return nil }
        return ExecutionPlan(network, weights: weights, embeds: false, hops: nil)
    }

    /// Runs a plan, after the front end.
    func run(_ plan: ExecutionPlan, _ memory: UnsafeMutablePointer<Float>) {
        plan.run(memory, weights: weights.base, kernels: kernels)
    }
}

/// What `phonemes.json` says: the names of the outputs, and the letters that words are spelled with.
struct PhonemeDescription {
    static let file = "phonemes.json"
    /// More than any alphabet of sounds or letters has.
    private static let most = 1000

    let symbols: [String]
    let letters: [String]

    /// - Throws: `ModelError`.
    init(folder: String) throws(ModelError) {
        let text = try readModelText(folder + "/" + Self.file)
        let node: JSONNode
        do throws(JSONError) {
            node = try JSONNode.parse(text)
        } catch {
            throw Self.wrong(folder, "not valid JSON: \(error)")
        }
        func names(_ key: String) throws(ModelError) -> [String] {
            guard case .array(let elements)? = node[key]?.value else {
                throw Self.wrong(folder, "it has no list “\(key)”")
            }
            let names = elements.compactMap(\.text)
            guard names.count == elements.count, Set(names).count == names.count, (1...Self.most).contains(names.count)
            else { throw Self.wrong(folder, "“\(key)” is not a list of different names") }
            return names
        }
        (symbols, letters) = (try names("symbols"), try names("letters"))
    }

    static func wrong(_ folder: String, _ what: String) -> ModelError {
        .description.saying("\(folder)/\(file): \(what); install the file again")
    }
}

extension LayerDescription {
    /// Whether it is a convolution of one column.
    fileprivate var isMatrix: Bool {
        if case .convolution(let convolution, _) = operation { convolution.kernel.frames == 1 } else { false }
    }
}

extension SafeTensors {
    /// The largest inputs of layers that compute in integers, by the names of what they read: the tensor “ranges”.
    ///
    /// - Throws: `ModelError` where there are not as many.
    func ranges(of layers: [LayerDescription]) throws(ModelError) -> [String: Double] {
        let numbers = try floats("ranges", shape: [layers.count])
        return Dictionary(zip(layers.map { $0.inputs[0] }, numbers.map(Double.init))) { max($0, $1) }
    }
}
