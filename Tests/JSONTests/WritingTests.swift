import Core
import JSON
import Testing

@Suite struct `A JSON value` {
    @Test func `keeps the order of an object's members and the decimals of its numbers`() {
        let value: JSON = [
            "word": "stop", "takes": 4, "confidence": .number(0.7, places: 4), "heard": true, "driver": .optional(nil),
            "rates": .array([.number(16_000), .number(48_000)]), "channels": ["min": 1, "max": 2],
        ]
        #expect(
            value.description == """
                {"word": "stop", "takes": 4, "confidence": 0.7000, "heard": true, "driver": null, \
                "rates": [16000, 48000], "channels": {"min": 1, "max": 2}}
                """
        )
        #expect(value.line == value.description + "\n")
    }

    @Test(arguments: [
        ("plain", #""plain""#), ("a \"b\" \\ c", #""a \"b\" \\ c""#), ("line\nend\r\ttab", #""line\nend\r\ttab""#),
        ("\u{1}\u{1F}\u{1B}", #""\u0001\u001f\u001b""#), ("grün 🎤 / é", #""grün 🎤 / é""#), ("", #""""#),
        ("\u{7F}\u{85}\u{202E}\u{2028}\u{E0041}", #""\u007f\u0085\u202e\u2028\udb40\udc41""#),
        ("👩\u{200D}💻", "\"👩\u{200D}💻\""),
    ])
    func `escapes what a string may not hold or a terminal does not show, and nothing else`(
        text: String,
        expected: String
    ) {
        #expect(JSON.string(text).description == expected)
        #expect(JSON.object([.init(text, .null)]).description == "{\(expected): null}")
    }

    @Test func `writes numbers that read back the same, and no number that JSON does not know`() {
        #expect(JSON.shortest(Float(0.7)).description == "0.7")
        #expect(JSON.shortest(2.0).description == "2.0")
        #expect(JSON.shortest(Double.nan) == .null)
        #expect(JSON.shortest(-Float.infinity) == .null)
        #expect(JSON.number(Double.nan, places: 2).description == "0")
        #expect(JSON.number(-0.0004, places: 3).description == "0.000")
    }

    @Test func `takes more members, and text that is JSON already`() {
        var value: JSON = ["ok": true]
        value.append(["last": .encoded(#"{"a": 1}"#), "names": .strings(["x", "y"])])
        #expect(value.description == #"{"ok": true, "last": {"a": 1}, "names": ["x", "y"]}"#)
        #expect(JSON.array([]).description == "[]")
        #expect(JSON.object([]).description == "{}")
    }
}
