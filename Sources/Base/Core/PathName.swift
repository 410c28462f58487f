/// A file's path in parts: `talks/one.wav` is the folder `talks`, the stem `one` and the extension `wav`.
public struct PathName {
    public let text: String
    /// Start of the last component.
    private let name: String.Index
    /// The dot before the extension.
    private let dot: String.Index?

    public init(_ text: String) {
        self.text = text
        name = text.lastIndex(of: "/").map { text.index(after: $0) } ?? text.startIndex
        // `.wav` is a hidden file without an extension.
        dot = text[name...].lastIndex(of: ".").flatMap { [name] in $0 > name ? $0 : nil }
    }

    /// The extension without its dot; empty if there is none.
    public var ending: Substring { dot.map { text[text.index(after: $0)...] } ?? "" }
    /// The whole path without dot and extension.
    public var withoutEnding: String { String(text[..<(dot ?? text.endIndex)]) }
    /// The last component without dot and extension.
    public var stem: String { String(text[name..<(dot ?? text.endIndex)]) }
}
