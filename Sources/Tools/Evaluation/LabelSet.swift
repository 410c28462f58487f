import Core

/// A model's labels by kind: words, then unknown, then silence.
public struct LabelSet: Sendable, Equatable {
    /// What a label stands for.
    public enum Kind: String, Sendable { case word, unknown, silence }

    /// In the model's order; the last two are `_unknown_` and `_silence_`.
    public var names: [String] { labels.names }
    private let labels: Labels

    public init(_ names: [String]) { labels = Labels(names) }

    /// Indices of the words.
    public var words: Range<Int> { labels.wordIndices }
    /// Index of `_unknown_`, for all other speech.
    public var unknown: Int { labels.unknownIndex }
    /// Index of `_silence_`.
    public var silence: Int { labels.silenceIndex }

    public func kind(of label: Int) -> Kind { words.contains(label) ? .word : label == silence ? .silence : .unknown }

    /// Name of a label; empty for an index out of range.
    public func name(of label: Int) -> String { names.indices.contains(label) ? names[label] : "" }

    /// The label of clips in a folder of this name, in the layout of Speech Commands (Warden 2018).
    public func label(ofFolder folder: String) -> Int {
        if let label = names.firstIndex(of: folder) { return label }
        return folder == "silence" || folder == Self.backgroundFolder ? silence : unknown
    }

    /// Folder of long recordings without speech, which are cut into clips of silence.
    public static let backgroundFolder = "_background_noise_"
}
