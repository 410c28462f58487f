private import Core
private import FoundationEssentials
private import JSON

/// A report as JSON on many lines, with keys in alphabetical order.
///
/// Reports are `Codable`, because `bench --compare` reads them back, so Foundation encodes them. Lines of output, whose members have
/// a fixed order and fixed decimals, are `JSON` values.
func encodedJSON(_ report: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    return JSON.escapingHidden(String(decoding: try encoder.encode(report), as: UTF8.self)) + "\n"
}
