private import FoundationEssentials

/// A report as JSON with its keys in alphabetical order, and a line end.
///
/// - Parameter isPretty: on many lines, indented.
func encodedJSON(_ report: some Encodable, isPretty: Bool = false) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
    return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
}
