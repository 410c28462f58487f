private import Core
private import FoundationEssentials
private import JSON

/// A report as JSON, with keys in alphabetical order and a line end.
///
/// Reports are `Codable`, because `bench --compare` reads them back, so Foundation encodes them. Lines of output, whose members have
/// a fixed order and fixed decimals, are `JSON` values.
///
/// - Parameter isPretty: true for indented JSON on many lines, false for one line.
func encodedJSON(_ report: some Encodable, isPretty: Bool = false) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
    return JSON.escapingHidden(String(decoding: try encoder.encode(report), as: UTF8.self)) + "\n"
}
