private import Core
private import System

/// A wake word of microWakeWord: its manifest, and its network ready to run. It is shared by all streams.
public final class WakeWord: Sendable {
    /// The word's name among the labels of a detector: the phrase of the manifest in lower case.
    public let name: String
    public let manifest: WakeWordManifest
    public let network: StreamingNetwork
    /// The mean of the newest probabilities above which the word is said, unless the user chooses another: the manifest's, 0…1.
    public var threshold: Float { Float(manifest.cutoff) }
    /// The files of the model and of its manifest.
    public let path: String
    public let manifestPath: String

    /// The longest file of a model or manifest, in bytes.
    public static let mostBytes = TFLiteFile.Limits.fileBytes

    /// Reads a model and the manifest beside it.
    ///
    /// - Parameter path: the manifest, which names the model; or the model, whose manifest has the same name but ends in `.json`.
    /// - Throws: `WakeWordError`, which names the file.
    public init(path: String) throws(WakeWordError) {
        let isManifest = PathName(path).ending.lowercased() == "json"
        let manifestPath = isManifest ? path : PathName(path).withoutEnding + ".json"
        let json: [UInt8]
        do throws(WakeWordError) {
            json = try WakeWordManifest.read(manifestPath)
        } catch {
            guard !isManifest, error == .unreadable else { throw error }
            throw .unreadable.saying("\(error.message); the manifest must lie beside the model")
        }
        do throws(WakeWordError) { manifest = try WakeWordManifest(json: json) } catch {
            throw error.inFile(manifestPath)
        }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        self.manifestPath = manifestPath
        self.path = isManifest ? folder + manifest.model : path
        let bytes = try readWakeWordFile(self.path, limit: TFLiteFile.Limits.fileBytes)
        do throws(WakeWordError) { network = try StreamingNetwork(bytes: bytes) } catch {
            throw error.inFile(self.path)
        }
        name = WordName.folded(manifest.phrase)
    }

    /// From contents in memory.
    public init(manifest: WakeWordManifest, network: StreamingNetwork) {
        self.manifest = manifest
        self.network = network
        name = WordName.folded(manifest.phrase)
        path = manifest.model
        manifestPath = PathName(path).withoutEnding + ".json"
    }
}

/// Reads a file of at most `limit` bytes.
///
/// - Throws: `WakeWordError.unreadable` or `.size`, which name the file.
func readWakeWordFile(_ path: String, limit: Int) throws(WakeWordError) -> [UInt8] {
    do throws(ReadFileError) {
        return try readFile(path, limit: limit).bytes
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
}
