/// How names of words are compared where a person or another program has typed them: `Hey_Computer`, `hey-computer` and `hey computer`
/// are one name.
public enum WordName {
    /// The name in lower case, with one space for each run of spaces, `_` and `-`, and none at its ends.
    public static func folded(_ name: String) -> String {
        name.lowercased().split { $0 == "_" || $0 == "-" || $0.isWhitespace }.joined(separator: " ")
    }

    /// The name without white space at its ends.
    public static func trimmed(_ name: String) -> String {
        var name = name[...]
        while name.first?.isWhitespace == true { name = name.dropFirst() }
        while name.last?.isWhitespace == true { name = name.dropLast() }
        return String(name)
    }

    /// The known name that is meant: the same one, else the only one that is equal when folded; nil if there is none, or several.
    public static func match(_ name: String, in known: some Sequence<String>) -> String? {
        var found: [String] = []
        let wanted = folded(name)
        for candidate in known {
            if candidate == name { return candidate }
            if folded(candidate) == wanted { found.append(candidate) }
        }
        return found.count == 1 ? found.first : nil
    }
}
