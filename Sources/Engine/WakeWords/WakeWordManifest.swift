private import Core
private import JSON
private import System

/// The manifest of a microWakeWord model, version 2: what the word is, and when it counts as said.
public struct WakeWordManifest: Sendable, Equatable {
    /// The word as people say it, such as “Okay Nabu”.
    public let phrase: String
    /// Name of the model's file, which lies beside the manifest.
    public let model: String
    public let author: String
    public let website: String
    /// Languages that the model was trained for, such as `en`.
    public let languages: [String]
    /// The word is said where the mean of the newest probabilities is above this, 0…1.
    public let cutoff: Double
    /// How many probabilities are averaged.
    public let windowSteps: Int

    private static let fileLimit = 1 << 16

    /// Reads the manifest of a file.
    ///
    /// - Throws: `WakeWordError`, which names the file.
    public init(path: String) throws(WakeWordError) {
        let json = try Self.read(path)
        do throws(WakeWordError) { try self.init(json: json) } catch { throw error.inFile(path) }
    }

    static func read(_ path: String) throws(WakeWordError) -> [UInt8] { try readWakeWordFile(path, limit: fileLimit) }

    /// Reads a manifest.
    ///
    /// - Throws: `WakeWordError.manifest` or `.unsupported`, whose message does not name the file.
    public init(json: [UInt8]) throws(WakeWordError) {
        guard let text = String(validating: json.withoutByteOrderMark, as: UTF8.self) else {
            throw .manifest.saying("not UTF-8 text; name the manifest, a JSON file")
        }
        let root: JSONNode
        do throws(JSONError) {
            root = try JSONNode.parse(text)
        } catch {
            throw .manifest.saying("\(error)")
        }
        guard root.isObject else { throw .manifest.saying("not a JSON object; name the manifest of a model") }
        guard root["type"]?.text == "micro" else {
            throw .unsupported.saying(
                "key type is \(Self.found(root["type"])), not 'micro'; only models of microWakeWord can run"
            )
        }
        guard root["version"]?.integer == 2 else {
            throw .unsupported.saying(
                "key version is \(Self.found(root["version"])), not 2; export the model with microWakeWord 2"
            )
        }
        phrase = try Self.text(root, "wake_word")
        guard !WordName.folded(phrase).isEmpty else { throw .manifest.saying("key wake_word is empty") }
        model = try Self.text(root, "model")
        guard !model.isEmpty, !model.contains("/"), !model.contains("\0") else {
            throw .manifest.saying("key model is \(quoted(model)), not the name of a file beside the manifest")
        }
        author = root["author"]?.text ?? ""
        website = root["website"]?.text ?? ""
        languages = root["trained_languages"]?.elements.compactMap(\.text) ?? []
        guard let micro = root["micro"], micro.isObject else { throw .manifest.saying("key micro is missing") }
        guard let cutoff = micro["probability_cutoff"]?.number, (0...1).contains(cutoff) else {
            throw .manifest.saying(
                "key micro.probability_cutoff is \(Self.found(micro["probability_cutoff"])), not from 0 to 1"
            )
        }
        self.cutoff = cutoff
        guard let steps = micro["sliding_window_size"]?.integer, (1...255).contains(steps) else {
            throw .manifest.saying(
                "key micro.sliding_window_size is \(Self.found(micro["sliding_window_size"])), not from 1 to 255"
            )
        }
        windowSteps = steps
        guard micro["feature_step_size"]?.integer ?? 10 == 10 else {
            throw .unsupported.saying(
                "key micro.feature_step_size is \(Self.found(micro["feature_step_size"])); only features every 10 ms are supported"
            )
        }
    }

    private static func text(_ node: JSONNode, _ key: String) throws(WakeWordError) -> String {
        guard let text = node[key]?.text, text.utf8.count <= 200 else {
            throw .manifest.saying("key \(key) is \(found(node[key])), not a text of at most 200 bytes")
        }
        return text
    }

    private static func found(_ node: JSONNode?) -> String { node.map { printable($0.description) } ?? "missing" }
}
