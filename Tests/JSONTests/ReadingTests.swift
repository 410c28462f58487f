import Core
import Foundation
import Testing

@testable import JSON

/// Reading strict JSON (RFC 8259).
struct ReadingTests {
    static let sound = [
        "{\"a\": 1, \"b\": [1, -0.5, 2e3, 1E-2, 0], \"c\": \"d\\\"\\u00e9\\/\\n\", \"e\": {}, \"f\": null}", " [] ",
        "true", "\"\"",
        "\t[\r\n1 , 2]\n", "-0", "\"\\ud83d\\ude00\"", "\"grün\u{2028}\"", "[[[[]]]]", "{\"\": false}",
    ]
    /// What people write, and what only JSON5 allows.
    static let broken = [
        "", " ", "{a: 1}", "{'a': 1}", "['x']", "[1,]", "{\"a\": 1,}", "[1] // x", "/* x */ 1", "+1", ".5", "5.", "01",
        "-",
        "0x10", "Infinity", "NaN", "-Infinity", "1e", "1.e5", "\"\\x41\"", "\"\\v\"", "\"\\'\"", "\"a\nb\"",
        "\"a\\\nb\"",
        "\"\t\"", "\"open", "[1", "{\"a\" 1}", "{\"a\": }", "[1 2]", "nul", "nullx", "True", "[]]", "\u{FEFF}[]",
        "\u{A0}[]",
        "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "{1: 2}", "{null: 1}", "$", "1 2",
    ]

    private static func value(_ node: JSONNode) -> Any {
        switch node.value {
        case .null: NSNull()
        case .bool(let flag): flag
        case .number(let number): number
        case .string(let text): text
        case .array(let elements): elements.map(value)
        case .object(let members): Dictionary(members.map { ($0.name, value($0.node)) }) { $1 }
        }
    }

    @Test func `a number is the nearest one to its digits, however many there are`() throws {
        // Knuth's linear congruential generator; its high bits are random.
        var state: UInt64 = 7
        func random(_ count: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % count
        }
        for round in 0..<3000 {
            let digits = (0..<1 + round % 20).map { $0 == 0 ? random(9) + 1 : random(10) }
            var text = (round % 3 == 0 ? "-" : "") + digits.map(String.init).joined()
            if round % 2 == 0 { text.insert(".", at: text.index(text.endIndex, offsetBy: -(digits.count - 1) / 2)) }
            if text.hasSuffix(".") { text += "0" }
            #expect(try JSONNode.parse(text).number?.bitPattern == Double(text)?.bitPattern, "\(text)")
        }
        for text in ["0.1", "-0", "0.000001", "123456789012345", "1234567890123456789", "0.1234567890123456789"] {
            #expect(try JSONNode.parse(text).number?.bitPattern == Double(text)?.bitPattern, "\(text)")
        }
    }

    @Test(arguments: sound)
    func `what Foundation reads is read the same`(_ text: String) throws {
        let expected = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        let read = Self.value(try JSONNode.parse(text))
        #expect((read as? NSObject) == (expected as? NSObject), "\(read), not \(expected)")
    }

    @Test(arguments: broken)
    func `what is not JSON is refused`(_ text: String) { #expect(throws: JSONError.self) { try JSONNode.parse(text) } }

    @Test func `what is written reads back`() throws {
        let written: JSON = [
            "text": "a \"b\" \\ \n\u{1}\u{7F}\u{202E}\u{E0041} grün 🎤", "list": [1, 2.5.json, [], [:]], "yes": true,
            "none": .null,
        ]
        let read = try JSONNode.parse(written.description)
        #expect(read["text"]?.text == "a \"b\" \\ \n\u{1}\u{7F}\u{202E}\u{E0041} grün 🎤")
        #expect(read["list"]?.elements.map(\.number) == [1, 2.5, nil, nil])
        #expect(read["list"]?.elements.map(\.integer) == [1, nil, nil, nil])
        #expect(read["yes"]?.flag == true && read["none"]?.value == .null && read["other"] == nil)
        #expect(read.members.map(\.name) == ["text", "list", "yes", "none"] && read.isObject)
        #expect(try JSONNode.parse(written.indented).description == "an object")
    }

    @Test func `the first of two members of a name is the one that is found`() throws {
        #expect(try JSONNode.parse("{\"a\": 1, \"a\": 2}")["a"]?.number == 1)
    }

    @Test(arguments: [JSONDialect.strict, .json5])
    func `nesting is bounded`(_ dialect: JSONDialect) throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(throws: Never.self) { try JSONNode.parse(nested(32), dialect) }
        #expect(throws: JSONError(place: TextPlace(line: 1, column: 33), reason: "nested deeper than 32 levels")) {
            try JSONNode.parse(nested(33), dialect)
        }
    }

    @Test func `a place counts characters, after a mark of byte order too`() {
        let table: [(String, JSONDialect, line: Int, column: Int)] = [
            ("[\"ü🎤\" x]", .strict, 1, 6), ("[1,\n\n  x]", .strict, 3, 3), ("\u{FEFF}{ü: x}", .json5, 1, 5),
            ("\u{FEFF}x", .strict, 1, 1),
        ]
        for (text, dialect, line, column) in table {
            let error = #expect(throws: JSONError.self) { try JSONNode.parse(text, dialect) }
            #expect(error?.place == TextPlace(line: line, column: column), "\(text): \(error?.description ?? "")")
        }
    }
}

extension Double {
    fileprivate var json: JSON { .shortest(self) }
}
