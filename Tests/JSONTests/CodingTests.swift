import JSON
import Testing

private struct Report: Codable, Equatable {
    enum Kind: String, Codable { case good, bad }

    struct Row: Codable, Equatable {
        var name: String
        var share: Float?
        var counts: [Int]
    }

    var rows: [Row]
    var kind: Kind
    var byName: [String: [String: Double]]
    var isDone: Bool
    var size: UInt8
    var place: Int64
    var nothing: Int?
}

private let report = Report(
    rows: [.init(name: "a\u{202E}", share: 0.7, counts: [1, -2]), .init(name: "", share: nil, counts: [])],
    kind: .good,
    byName: ["b": ["x": 1e-6, "y": 2]],
    isDone: true,
    size: 255,
    place: -43_432_288_467_964
)

private let text =
    #"{"byName": {"b": {"x": 1e-06, "y": 2}}, "isDone": true, "kind": "good", "place": -43432288467964, "#
    + #""rows": [{"counts": [1, -2], "name": "a\u202e", "share": 0.7}, {"counts": [], "name": ""}], "size": 255}"#

@Suite struct CodingTests {
    @Test func `writes keys in order, numbers as short as they read back, and leaves out what is nil`() throws {
        #expect(try JSON(encoding: report).description == text)
        #expect(try JSON(encoding: [Report]()).description == "[]")
        #expect(try JSON(encoding: [String: Int]()).description == "{}")
        #expect(try JSON(encoding: [[1], []]).description == "[[1], []]")
        #expect(try JSON(encoding: ["a": [1, 2], "b": []]).compact == #"{"a":[1,2],"b":[]}"#)
    }

    @Test func `refuses numbers that JSON does not know`() {
        #expect(throws: EncodingError.self) { try JSON(encoding: [Double.infinity]) }
        #expect(throws: EncodingError.self) { try JSON(encoding: Report.Row(name: "", share: .nan, counts: [])) }
    }

    @Test func `reads what it writes`() throws {
        #expect(try Report(json: text.utf8) == report)
        let spaced = text.replacing("{", with: " {\n").replacing(",", with: " ,\t")
        #expect(try Report(json: spaced.utf8) == report)
    }

    @Test(arguments: [
        ("{}", "missing rows"), ("[]", "mismatch at "), ("", "syntax"), (#"{"rows": [}"#, "syntax"),
        (#"{"rows": [{"name": "a"}]}"#, "missing rows.0.counts"),
        (#"{"rows": [{"name": 1}]}"#, "mismatch at rows.0.name"), (#"{"rows": null}"#, "null at rows"),
        (#"{"rows": [{"name": "", "counts": [1, 1.5]}]}"#, "corrupt at rows.0.counts.1"),
        (#"{"rows": [{"name": "", "counts": [1e30]}]}"#, "corrupt at rows.0.counts.0"),
        (#"{"rows": [{"name": "", "share": 1e40, "counts": []}]}"#, "corrupt at rows.0.share"),
        (#"{"rows": [], "kind": "worse"}"#, "corrupt at kind"),
        (text.replacing("255", with: "256"), "corrupt at size"), (text.replacing("255", with: "-1"), "corrupt at size"),
        (text.replacing("true", with: "1"), "mismatch at isDone"),
    ])
    func `says where JSON is not of the type`(text: String, expected: String) {
        var said = "none"
        do {
            _ = try Report(json: text.utf8)
        } catch let error as DecodingError {
            func path(_ keys: [any CodingKey]) -> String {
                keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
            }
            said =
                switch error {
                case .keyNotFound(let key, let context): "missing " + path(context.codingPath + [key])
                case .typeMismatch(_, let context): "mismatch at " + path(context.codingPath)
                case .valueNotFound(_, let context): "null at " + path(context.codingPath)
                case .dataCorrupted(let context): "corrupt at " + path(context.codingPath)
                @unknown default: "other"
                }
        } catch {
            said = error is JSONError ? "syntax" : "\(error)"
        }
        #expect(said == expected)
    }

    @Test func `reads text that is not UTF-8 as an error`() {
        #expect(throws: JSONError.self) { try [String](json: [0x5B, 0x22, 0xFF, 0x22, 0x5D]) }
    }
}
