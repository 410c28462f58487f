private import Core
private import System

/// A wake word of microWakeWord or openWakeWord: its manifest, and its network ready to run. It is shared by all streams.
public final class WakeWord: Sendable {
    /// What tells whether the word is said.
    public enum Network: Sendable {
        /// Of microWakeWord.
        case streaming(StreamingNetwork)
        /// Of openWakeWord, on the speech embedding.
        case head(HeadNetwork, over: SpeechEmbedding)
    }

    /// The word's name among the labels of a detector: the phrase of the manifest in lower case.
    public let name: String
    public let manifest: WakeWordManifest
    public let network: Network
    /// What the newest probabilities must exceed for the word to be said, unless the user chooses another: the manifest's, 0…1.
    public var threshold: Float { Float(manifest.cutoff) }
    /// The files of the model and of its manifest.
    public let path: String
    public let manifestPath: String
    /// Whether the manifest is a file; a head of openWakeWord needs none.
    public let hasManifest: Bool

    /// The longest file of a model or manifest, in bytes.
    public static let mostBytes = TFLiteFile.Limits.fileBytes

    /// Reads a model and the manifest beside it.
    ///
    /// - Parameters:
    ///   - path: the manifest, which names the model; or the model, whose manifest has the same name but ends in `.json`. A head of openWakeWord
    ///     needs no manifest.
    ///   - triggerLevel: how many of the newest probabilities of a head must be above the threshold, 1…255; nil for what its manifest says.
    ///   - embedding: the speech embedding for a head; nil where there is none.
    /// - Throws: `WakeWordError`, which names the file.
    public init(
        path: String,
        triggerLevel: Int? = nil,
        embedding: (() throws(WakeWordError) -> SpeechEmbedding)? = nil
    ) throws(WakeWordError) {
        let isManifest = PathName(path).ending.lowercased() == "json"
        let manifestPath = isManifest ? path : PathName(path).withoutEnding + ".json"
        self.manifestPath = manifestPath
        let budget = ModelBudget()
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        var (found, isFile) = try Self.manifest(at: manifestPath, of: isManifest ? nil : path, budget)
        if found.kind == .openWakeWord, let triggerLevel { found.windowSteps = min(max(triggerLevel, 1), 255) }
        (manifest, hasManifest) = (found, isFile)
        self.path = isManifest ? folder + found.model : path
        name = WordName.folded(found.phrase)
        let bytes = try readWakeWordFile(self.path, limit: TFLiteFile.Limits.fileBytes)
        do throws(WakeWordError) {
            switch found.kind {
            case .microWakeWord: network = .streaming(try StreamingNetwork(bytes: bytes, budget))
            case .openWakeWord:
                let head = try HeadNetwork(bytes: bytes, budget)
                guard let embedding else {
                    throw .unreadable.saying("a head needs the speech embedding, which is missing")
                }
                network = .head(try head.check(found), over: try embedding())
            }
        } catch {
            throw error.inFile(self.path)
        }
    }

    /// The word of a model that cannot be used, by its manifest or its name.
    ///
    /// - Parameter path: as for ``init(path:triggerLevel:embedding:)``.
    public static func phrase(of path: String) throws(WakeWordError) -> String {
        let manifest = PathName(path).ending.lowercased() == "json" ? path : PathName(path).withoutEnding + ".json"
        if let json = try? WakeWordManifest.read(manifest), let phrase = WakeWordManifest.phrase(json: json) {
            return phrase
        }
        return try WakeWordManifest(head: path).phrase
    }

    /// The manifest of a file; without that, one for a head of openWakeWord.
    ///
    /// - Parameter model: the model that the user named; nil if it was the manifest.
    private static func manifest(
        at path: String,
        of model: String?,
        _ budget: ModelBudget
    ) throws(WakeWordError) -> (manifest: WakeWordManifest, isFile: Bool) {
        let json: [UInt8]
        do throws(WakeWordError) {
            json = try WakeWordManifest.read(path)
        } catch {
            guard let model, error == .unreadable else { throw error }
            guard ["tflite", "onnx"].contains(PathName(model).ending.lowercased()) else {
                throw .unreadable.saying(
                    "\(model): not a wake word; name its model, a file that ends in .tflite or .onnx, or its manifest"
                )
            }
            if try isHead(model, budget) { return (try WakeWordManifest(head: model), false) }
            throw .unreadable.saying("\(error.message); the manifest must lie beside the model")
        }
        do throws(WakeWordError) { return (try WakeWordManifest(json: json), true) } catch { throw error.inFile(path) }
    }

    /// Whether a model without a manifest is one of openWakeWord: an ONNX file, or a TFLite file that reads floats or embeddings.
    private static func isHead(_ model: String, _ budget: ModelBudget) throws(WakeWordError) -> Bool {
        if PathName(model).ending.lowercased() == "onnx" { return true }
        let bytes = try readWakeWordFile(model, limit: TFLiteFile.Limits.fileBytes)
        guard TFLiteFile.isOne(bytes) else { return false }
        do throws(WakeWordError) {
            guard let graph = try TFLiteFile(bytes, budget).graphs.first, let first = graph.inputs.first else {
                return false
            }
            let input = graph.tensors[first]
            return input.type.isFloat || input.shape.last == SpeechEmbedding.count
        } catch {
            throw error.inFile(model)
        }
    }

    /// From contents in memory.
    public init(manifest: WakeWordManifest, network: Network) {
        self.manifest = manifest
        self.network = network
        name = WordName.folded(manifest.phrase)
        path = manifest.model
        manifestPath = PathName(path).withoutEnding + ".json"
        hasManifest = true
    }
}

/// Reads a file of at most `limit` bytes.
///
/// - Throws: `WakeWordError.unreadable` or `.size`, which name the file.
func readWakeWordFile(_ path: String, limit: Int) throws(WakeWordError) -> [UInt8] {
    let bytes: [UInt8]
    do throws(ReadFileError) {
        bytes = try readFile(path, limit: limit).bytes
    } catch {
        switch error {
        case .tooLarge(let size):
            throw .size.saying(
                "\(path): \(size) bytes, more than the limit of \(limit); is this a wake-word model?"
            )
        case .notRegularFile, .foreign:
            throw .unreadable.saying("\(path): not a regular file; name the model or its manifest")
        case .system, .truncated: throw .unreadable.saying("\(path): \(error)")
        }
    }
    if let other = FileStandIn.text(bytes) { throw .unsupported.saying("\(path): \(other)") }
    return bytes
}
