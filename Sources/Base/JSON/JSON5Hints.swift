import Core

/// What people write in place of JSON5: comments of other formats, the quotation marks of text programs, YAML. Each error says what to
/// write.
extension JSONReader {
    /// Characters that JSON5 has only in text, and those that they stand for.
    private static let lookalikes: [Unicode.Scalar: String] = {
        var table: [Unicode.Scalar: String] = ["\u{FF0C}": ",", "\u{FF1A}": ":", ";": ","]
        for quote in QuotationMarks.double.unicodeScalars { table[quote] = "\"" }
        for quote in QuotationMarks.single.unicodeScalars { table[quote] = "'" }
        for dash in "\u{2010}\u{2012}\u{2013}\u{2014}\u{2212}".unicodeScalars { table[dash] = "-" }
        return table
    }()

    /// Refuses a character between values, names and signs that stands for another one, or begins a comment elsewhere.
    mutating func refuseLookalike(_ scalar: Unicode.Scalar) throws(JSONError) {
        if scalar == "#" { throw error("a comment begins with // here, not with #") }
        guard let meant = Self.lookalikes[scalar] else { return }
        throw error("'\(scalar)' is not the character that JSON has; write \(meant)")
    }

    /// A hint at a quotation mark of a text program on the line of an offset; empty without one.
    func quotationHint(at offset: Int) -> String {
        guard dialect == .json5 else { return "" }
        let newline = UInt8(ascii: "\n")
        let start = bytes[..<offset].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let end = bytes[offset...].firstIndex(of: newline) ?? bytes.count
        let line = String(decoding: bytes[start..<min(end, start + 4096)], as: UTF8.self)
        let mark = line.unicodeScalars.first {
            Self.lookalikes[$0].map { $0 == "\"" || $0 == "'" } ?? false && $0 != "`"
        }
        return mark.map { "; '\($0)' closes no text, write \(Self.lookalikes[$0] ?? "\"")" } ?? ""
    }

    /// A hint for a text whose first value is a name: another format's key.
    ///
    /// - Parameter name: the name, after which the reader stands.
    func formatHint(after name: String) -> String? {
        guard dialect == .json5, depth == 0 || isSection else { return nil }
        let sign = bytes[position...].first { $0 != 0x20 && $0 != 0x09 }
        let format: String
        switch sign {
        case UInt8(ascii: "]") where isSection, UInt8(ascii: ".") where isSection: format = "an INI or TOML file"
        case UInt8(ascii: ":"): format = "YAML"
        case UInt8(ascii: "="): format = "an INI or TOML file"
        default: return nil
        }
        return
            "this looks like \(format), but it is JSON5: keys stand in braces, with commas between them, as in { \(name): … }"
    }

    /// Whether the text begins with a bracket that is still open, as the name of a section does: `[words.yes]`.
    private var isSection: Bool {
        depth == 1 && bytes[start...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "[")
    }

    /// A hint for what is not a number; empty for no idea.
    func numberHint(_ text: String) -> String {
        guard dialect == .json5 else { return "" }
        if text.hasPrefix("---"), depth == 0 {
            return
                "; this looks like YAML, but it is JSON5: keys stand in braces, with commas between them, as in { key: … }"
        }
        return text == "-" ? "; a list stands in brackets, with commas between its values, as in [1, 2]" : ""
    }

    /// What another language calls a value that JSON has; nil for another word.
    static func value(called word: String) -> String? {
        switch word {
        case "True", "TRUE": "true"
        case "False", "FALSE": "false"
        case "None", "nil", "Null", "NULL", "undefined": "null"
        default: nil
        }
    }
}
