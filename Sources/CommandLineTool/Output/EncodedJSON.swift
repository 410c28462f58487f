private import JSON

/// A report as JSON on many lines, with keys in alphabetical order.
///
/// Reports are `Codable`, because `bench --compare` reads them back. Lines of output, whose members have a fixed order and
/// fixed decimals, are `JSON` values.
func encodedJSON(_ report: some Encodable) throws -> String {
    try JSON(encoding: report).indented
}
