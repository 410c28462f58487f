private import FoundationEssentials

/// A report as JSON, with keys in alphabetical order and a line end.
///
/// - Parameter isPretty: true for indented JSON on many lines, false for one line.
func encodedJSON(_ report: some Encodable, isPretty: Bool = false) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
    return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
}
