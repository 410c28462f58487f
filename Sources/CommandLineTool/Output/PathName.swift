/// A file's path in parts: `talks/one.wav` is the folder `talks`, the stem `one` and the ending `wav`.
struct PathName {
    let text: String
    /// Where the last part begins, and where its ending's dot is.
    private let name: String.Index
    private let dot: String.Index?

    init(_ text: String) {
        self.text = text
        name = text.lastIndex(of: "/").map { text.index(after: $0) } ?? text.startIndex
        // `.wav` is a hidden file without an ending.
        dot = text[name...].lastIndex(of: ".").flatMap { [name] in $0 > name ? $0 : nil }
    }

    /// Empty where there is none.
    var ending: Substring { dot.map { text[text.index(after: $0)...] } ?? "" }
    var withoutEnding: String { String(text[..<(dot ?? text.endIndex)]) }
    var stem: String { String(text[name..<(dot ?? text.endIndex)]) }
}
