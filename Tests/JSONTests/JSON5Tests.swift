import Foundation
import Testing

@testable import JSON

/// Compares the parser with Foundation's, which gives neither line nor reason when it rejects a text.
struct JSON5Tests {
    static let sound = [
        "{a: 1, // c\n 'b': [1,2,], /* x */ \"c\": 'd e', d: +.5, e: 0x1F, f: 5., g: -2.5e-3, _x$1: null}",
        "[]", "{}", "true", "'it\\'s'", "\"\\u00e9\\t\\x41\\u{0}\"".replacingOccurrences(of: "\\u{0}", with: ""),
        "\u{FEFF}{a: [[], {}, [{}]]}", "/* a */ // b\n [1e3, 0, -0, 12345678901]", "{ünder: 1, 'a b': 2}",
        "[\"\\ud83d\\ude00\", 'x\\ny']", "\t{\r\n a: false\r\n}",
    ]
    static let broken = [
        "", "// only", "{a: 1", "{a: 1,\n b 2}", "[1,,2]", "{a:1,,}", "{,}", "'open", "{a: 'x\n'}", "/* open",
        "{a:1} x",
        "[01]", "[1.2.3]", "[--1]", "[+]", "[.]", "nul", "{1: 2}", "[1 2]", "{a: b}", "\"\\u12\"", "[0x]", "[1e]", "}",
    ]

    @Test(arguments: sound)
    func `text that Foundation reads is read the same`(_ text: String) throws {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        let expected = try decoder.decode(Reference.self, from: Data(text.utf8))
        let read = Reference(try JSONNode.parse(text, .json5))
        #expect(read == expected)
    }

    @Test(arguments: broken)
    func `text that Foundation refuses is refused`(_ text: String) {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        #expect(throws: (any Error).self) { try decoder.decode(Reference.self, from: Data(text.utf8)) }
        #expect(throws: JSONError.self) { try JSONNode.parse(text, .json5) }
    }

    @Test func `a backslash joins two lines, which Foundation gets wrong`() throws {
        #expect(try JSONNode.parse("'a\\\nb\\\r\nc'", .json5).value == .string("abc"))
        #expect(
            try JSONNode.parse("[\n'a\\\nb',\n1]", .json5)
                == JSONNode(
                    value: .array([
                        .init(value: .string("ab"), place: TextPlace(line: 2, column: 1)),
                        .init(value: .number(1), place: TextPlace(line: 4, column: 1)),
                    ]),
                    place: TextPlace(line: 1, column: 1)
                )
        )
    }

    @Test func `errors tell place and reason`() {
        let table: [(String, (Int, Int), String)] = [
            ("{\n a: 1\n b: 2}", (2, 6), "a comma or '}' was expected, not 'b'"),
            ("{\n\n a 1}", (3, 4), "a colon was expected after the key a, not '1'"),
            ("{\n a: [1,\n}", (3, 1), "a value was expected, not '}'"),
            ("{\n a: [1\n", (2, 5), "this [ is never closed"),
            ("{\n a: yes}", (2, 5), "a value was expected, not yes; text needs quotes, as in \"yes\""),
            ("{a: 'x\n'}", (1, 5), "this text has no closing quote on its line"),
            ("{}\n\n/* x", (3, 1), "this comment has no end; close it with */"),
            ("[1]\n]", (2, 1), "unexpected ']' after the end"),
            (String(repeating: "[", count: 10_000), (1, 33), "nested deeper than 32 levels"),
            // What people write in place of JSON5.
            ("{\n # c\n a: 1}", (2, 2), "a comment begins with // here, not with #"),
            ("{a: 1 # c\n}", (1, 7), "a comment begins with // here, not with #"),
            ("# c\n{}", (1, 1), "a comment begins with // here, not with #"),
            ("{a: \u{201C}b\u{201D}}", (1, 5), "'\u{201C}' is not the character that JSON has; write \""),
            ("{\u{201E}a\u{201C}: 1}", (1, 2), "'\u{201E}' is not the character that JSON has; write \""),
            ("{a: \u{2018}b\u{2019}}", (1, 5), "'\u{2018}' is not the character that JSON has; write '"),
            (
                "{a: \"b\u{201D}\n}", (1, 5),
                "this text has no closing quote on its line; '\u{201D}' closes no text, write \""
            ),
            (
                "{a: \"b\u{201D}, c: \"d\"}", (1, 14),
                "a comma or '}' was expected, not 'd'; '\u{201D}' closes no text, write \""
            ),
            ("{a: \u{2212}1}", (1, 5), "'\u{2212}' is not the character that JSON has; write -"),
            ("{a: 1; b: 2}", (1, 6), "';' is not the character that JSON has; write ,"),
            (
                "\nmode: spot\n", (2, 1),
                "this looks like YAML, but it is JSON5: keys stand in braces, with commas between them, as in { mode: … }"
            ),
            (
                "mode = spot\n", (1, 1),
                "this looks like an INI or TOML file, but it is JSON5: keys stand in braces, with commas between them, as in "
                    + "{ mode: … }"
            ),
            (
                "---\nmode: spot\n", (1, 1),
                "'---' is not a number; this looks like YAML, but it is JSON5: keys stand in braces, with commas between them, "
                    + "as in { key: … }"
            ),
            (
                "{a: \n  - b\n}", (2, 3),
                "'-' is not a number; a list stands in brackets, with commas between its values, as in [1, 2]"
            ),
            (
                "[beckon]\nmode = spot\n", (1, 2),
                "this looks like an INI or TOML file, but it is JSON5: keys stand in braces, with commas between them, as in "
                    + "{ beckon: … }"
            ),
            (
                "\n[words.yes]\n", (2, 2),
                "this looks like an INI or TOML file, but it is JSON5: keys stand in braces, with commas between them, as in "
                    + "{ words: … }"
            ),
            ("{a: [yes]}", (1, 6), "a value was expected, not yes; text needs quotes, as in \"yes\""),
            ("// only a comment\n", (2, 1), "there is nothing here; write { } at least"),
            ("{a: True}", (1, 5), "a value was expected, not True; did you mean true?"),
            ("{a: None}", (1, 5), "a value was expected, not None; did you mean null?"),
        ]
        for (text, (line, column), reason) in table {
            #expect(throws: JSONError(place: TextPlace(line: line, column: column), reason: reason)) {
                try JSONNode.parse(text, .json5)
            }
        }
    }
}

/// Strict JSON, which programs write, gets no hints for people.
struct StrictHintTests {
    @Test(arguments: ["# a", "\u{201C}a\u{201D}", "a: 1", "True", "{\"a\": 1; }"])
    func `a program's mistake is told without advice`(_ text: String) {
        #expect {
            try JSONNode.parse(text)
        } throws: { error in
            let reason = (error as? JSONError)?.reason ?? "advice"
            return !["write", "looks like", "did you mean", "comment"].contains { reason.contains($0) }
        }
    }
}

/// JSON values without their lines, for the comparison.
private indirect enum Reference: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([Reference])
    case object([String: Reference])

    init(_ node: JSONNode) {
        self =
            switch node.value {
            case .null: .null
            case .bool(let flag): .bool(flag)
            case .number(let number): .number(number)
            case .string(let text): .string(text)
            case .array(let elements): .array(elements.map(Reference.init))
            case .object(let members):
                .object(Dictionary(members.map { ($0.name, Reference($0.node)) }, uniquingKeysWith: { $1 }))
            }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let elements = try? container.decode([Reference].self) {
            self = .array(elements)
        } else {
            self = .object(try container.decode([String: Reference].self))
        }
    }
}
