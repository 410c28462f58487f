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
    let stem: PhonemeLayer
    let blocks: [PhonemeBlock]
    let output: PhonemeLayer
    let memory: Arena

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
        let weights = PhonemeWeights(tensors: try SafeTensors(path: folder + "/network.safetensors"))
        var layout = Arena.Layout()
        let (width, bands) = (PhonemeShape.width, PhonemeShape.bands)
        let frontEnd = PhonemeFrontEnd(&layout)
        let stem = PhonemeLayer(
            ConvolutionShape(inputChannels: bands, outputChannels: width, kernel: 3, stride: 2),
            &layout
        )
        var blocks: [PhonemeBlock] = []
        for _ in 0..<PhonemeShape.blocks { blocks.append(PhonemeBlock(&layout)) }
        let output = PhonemeLayer(width, symbols.count, &layout)
        let memory = Arena(layout)
        try frontEnd.read(weights, memory)
        try weights.read(stem, "stem", [width, 3, bands], memory)
        for (index, block) in blocks.enumerated() { try block.read(weights, "blocks.\(index)", memory) }
        try weights.read(output, "output", [symbols.count, width], memory)
        (self.frontEnd, self.stem, self.blocks, self.output) = (frontEnd, stem, blocks, output)
        self.memory = memory
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
