private import Core
private import JSON
private import System

/// The manifest of a model: what the word is, and when it counts as said. That of microWakeWord has version 2. openWakeWord has none, so that its
/// keys are Beckon's own, and a head without one is named by its file.
public struct WakeWordManifest: Sendable, Equatable {
    /// The kind of a model, as the manifest's key `type` has it.
    public enum Kind: String, Sendable {
        case microWakeWord = "micro"
        case openWakeWord
    }

    public let kind: Kind
    /// The word as people say it, such as “Okay Nabu”.
    public let phrase: String
    /// Name of the model's file, which lies beside the manifest.
    public let model: String
    public let author: String
    public let website: String
    /// Languages that the model was trained for, such as `en`.
    public let languages: [String]
    /// The word is said where the mean of the newest probabilities is above this, 0…1; for openWakeWord, where all of them are.
    public let cutoff: Double
    /// How many probabilities count as the newest.
    public internal(set) var windowSteps: Int
    /// Which of the probabilities of a head is the word's, from 0.
    public let output: Int
    /// Whether the manifest says so.
    let hasOutput: Bool

    private static let fileLimit = 1 << 16

    /// Reads the manifest of a file.
    ///
    /// - Throws: `WakeWordError`, which names the file.
    public init(path: String) throws(WakeWordError) {
        let json = try Self.read(path)
        do throws(WakeWordError) { try self.init(json: json) } catch { throw error.inFile(path) }
    }

    /// Only what a service needs to call a word whose model cannot be used.
    static func phrase(json: [UInt8]) -> String? {
        guard let text = String(validating: json.withoutByteOrderMark, as: UTF8.self),
            let phrase = (try? JSONNode.parse(text))?["wake_word"]?.text, isReadableName(phrase),
            phrase.utf8.count <= 200
        else { return nil }
        return phrase
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
        guard let kind = root["type"]?.text.flatMap(Kind.init) else {
            throw .unsupported.saying(
                "key type is \(Self.found(root["type"])), not 'micro' or 'openWakeWord'; only models of these two can run"
            )
        }
        self.kind = kind
        guard kind == .openWakeWord || root["version"]?.integer == 2 else {
            throw .unsupported.saying(
                "key version is \(Self.found(root["version"])), not 2; export the model with microWakeWord 2"
            )
        }
        phrase = try Self.text(root, "wake_word")
        guard !WordName.folded(phrase).isEmpty else { throw .manifest.saying("key wake_word is empty") }
        guard isReadableName(phrase) else {
            throw .manifest.saying(
                "key wake_word is \(quoted(phrase)), with control or invisible characters; write the word as it is said"
            )
        }
        model = try Self.text(root, "model")
        // Hidden names, and the folders . and .., begin with a dot; a manifest's own name ends as those of manifests do.
        guard !model.isEmpty, !model.hasPrefix("."), !model.contains("/"), isReadableName(model) else {
            throw .manifest.saying("key model is \(quoted(model)), not the name of a file beside the manifest")
        }
        guard PathName(model).ending.lowercased() != "json" else {
            throw .manifest.saying(
                "key model is \(quoted(model)), a manifest's name, not a model's, which ends in .tflite or .onnx"
            )
        }
        author = root["author"]?.text ?? ""
        website = root["website"]?.text ?? ""
        languages = root["trained_languages"]?.elements.compactMap(\.text) ?? []
        (cutoff, windowSteps) = try kind == .openWakeWord ? Self.levels(root) : Self.micro(root)
        let output = kind == .openWakeWord ? root["openWakeWord"]?["output"] : nil
        guard output == nil || output?.integer.map((0...255).contains) == true else {
            throw .manifest.saying("key openWakeWord.output is \(Self.found(output)), not from 0 to 255")
        }
        (self.output, hasOutput) = (output?.integer ?? 0, output != nil)
    }

    /// For a head of openWakeWord without a manifest: the word is the file's name, without its version.
    ///
    /// - Parameter model: the file's path.
    /// - Throws: `WakeWordError.manifest` for a file whose name is no word.
    public init(head model: String) throws(WakeWordError) {
        let path = PathName(model)
        var parts = WordName.folded(path.stem).split(separator: " ")
        // Such as v0.1.
        if let version = parts.last, parts.count > 1, version.count > 1, version.first == "v",
            version.dropFirst().allSatisfy({ $0.isNumber || $0 == "." })
        {
            parts.removeLast()
        }
        kind = .openWakeWord
        phrase = parts.joined(separator: " ")
        guard !phrase.isEmpty, phrase.utf8.count <= 200, isReadableName(phrase) else {
            throw .manifest.saying(
                "\(printable(model)): the file's name is no word; rename it, such as hey_house.tflite"
            )
        }
        self.model = String(model[(model.lastIndex(of: "/").map { model.index(after: $0) } ?? model.startIndex)...])
        (author, website, languages) = ("", "", [])
        (cutoff, windowSteps) = (Self.usualThreshold, 1)
        (output, hasOutput) = (0, false)
    }

    /// As ``init(json:)`` reads it, for a head of openWakeWord.
    public var json: String {
        let object: JSON = [
            "type": .string(kind.rawValue), "wake_word": .string(phrase), "model": .string(model),
            "author": .string(author), "website": .string(website), "trained_languages": .strings(languages),
            "openWakeWord": ["threshold": .shortest(cutoff), "trigger_level": .number(windowSteps)],
        ]
        return object.line
    }

    /// Threshold of a head without a manifest: openWakeWord's own.
    private static let usualThreshold = 0.5

    /// The keys of a model of microWakeWord.
    private static func micro(_ root: JSONNode) throws(WakeWordError) -> (cutoff: Double, steps: Int) {
        guard let micro = root["micro"], micro.isObject else { throw .manifest.saying("key micro is missing") }
        guard let cutoff = micro["probability_cutoff"]?.number, (0...1).contains(cutoff) else {
            throw .manifest.saying(
                "key micro.probability_cutoff is \(found(micro["probability_cutoff"])), not from 0 to 1"
            )
        }
        guard let steps = micro["sliding_window_size"]?.integer, (1...255).contains(steps) else {
            throw .manifest.saying(
                "key micro.sliding_window_size is \(found(micro["sliding_window_size"])), not from 1 to 255"
            )
        }
        guard micro["feature_step_size"]?.integer ?? 10 == 10 else {
            throw .unsupported.saying(
                "key micro.feature_step_size is \(found(micro["feature_step_size"])); only features every 10 ms are supported"
            )
        }
        return (cutoff, steps)
    }

    /// The keys of a head of openWakeWord, which may be missing.
    private static func levels(_ root: JSONNode) throws(WakeWordError) -> (cutoff: Double, steps: Int) {
        let keys = root["openWakeWord"]
        let threshold = keys?["threshold"]
        guard threshold == nil || threshold?.number.map((0...1).contains) == true else {
            throw .manifest.saying("key openWakeWord.threshold is \(found(threshold)), not from 0 to 1")
        }
        let level = keys?["trigger_level"]
        guard level == nil || level?.integer.map((1...255).contains) == true else {
            throw .manifest.saying("key openWakeWord.trigger_level is \(found(level)), not from 1 to 255")
        }
        return (threshold?.number ?? usualThreshold, level?.integer ?? 1)
    }

    private static func text(_ node: JSONNode, _ key: String) throws(WakeWordError) -> String {
        guard let text = node[key]?.text, text.utf8.count <= 200 else {
            throw .manifest.saying("key \(key) is \(found(node[key])), not a text of at most 200 bytes")
        }
        return text
    }

    private static func found(_ node: JSONNode?) -> String { node.map { printable($0.description) } ?? "missing" }
}
