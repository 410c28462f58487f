import Core
import Testing

/// Numbers from text that comes from outside.
struct NumberTextTests {
    /// What the standard library reads, or reads where it looks like a number.
    private static let strange = [
        "", " ", "+4", "+", "-", "--1", "4 ", " 4", "4\n", "4\0", "0x10", "0b1", "1_000", "1,000", "٤", "４", "²", "x",
        "1x", "é",
        "4\u{301}",
    ]

    @Test func `whole numbers are ASCII digits alone`() {
        for text in Self.strange + ["-1", "-0", "1.0", "1e3", "nan"] {
            #expect(Int(digits: text) == nil && UInt8(digits: text) == nil, "\(text)")
            #expect(Int(digits: Array(text.utf8)) == nil, "\(text)")
        }
        #expect(Int(digits: "0") == 0 && Int(digits: "007") == 7 && UInt16(digits: "65535"[...]) == 65_535)
        #expect(UInt8(digits: "255") == 255 && UInt8(digits: "256") == nil && UInt8(digits: "1000") == nil)
        #expect(Int(digits: "9223372036854775807") == .max && Int(digits: "9223372036854775808") == nil)
        #expect(UInt64(digits: "18446744073709551615") == .max && UInt64(digits: "18446744073709551616") == nil)
        #expect(Int8(digits: "128") == nil && Int(digits: String(repeating: "9", count: 10_000)) == nil)
    }

    @Test func `a sign is read only where one is meant`() {
        for text in Self.strange + ["1.0", "1e3", "- 1"] { #expect(Int(signedDigits: text) == nil, "\(text)") }
        #expect(Int(signedDigits: "-12") == -12 && Int(signedDigits: "12") == 12 && Int(signedDigits: "-0") == 0)
        #expect(Int8(signedDigits: "-128") == -128 && Int8(signedDigits: "-129") == nil)
        #expect(Int(signedDigits: "-9223372036854775808") == .min && Int(signedDigits: "-9223372036854775809") == nil)
        #expect(UInt8(signedDigits: "-1") == nil && UInt8(signedDigits: "7") == 7)
    }

    @Test func `hexadecimal digits have no prefix`() {
        for text in ["", "+f", "-f", "0xf", "g", "ｆ", "f ", "F_F"] {
            #expect(UInt32(hexDigits: text) == nil, "\(text)")
        }
        #expect(UInt32(hexDigits: "00fF") == 255 && UInt8(hexDigits: "100") == nil)
        #expect(UInt64(hexDigits: "ffffffffffffffff") == .max && UInt64(hexDigits: "10000000000000000") == nil)
    }

    @Test func `fractions are decimal and finite`() {
        let strange =
            Self.strange + [
                "nan", "NaN", "inf", "-inf", "infinity", "0x1p3", "0x1.8", ".", "-.", ".e5", "5.", "1.e3", "1e", "1e+",
                "1e5.0", "1.2.3", "+0.5",
                "1e999", "-1e999", "0,5",
            ]
        for text in strange { #expect(Double(decimal: text) == nil && Float(decimal: text) == nil, "\(text)") }
        #expect(
            Double(decimal: "0.5") == 0.5 && Double(decimal: "-12") == -12 && Double(decimal: ".5") == 0.5
                && Double(decimal: "1e-05") == 0.00001
        )
        #expect(Double(decimal: "2E+3") == 2000 && Float(decimal: "0.7"[...]) == 0.7 && Float(decimal: "1e39") == nil)
    }

    @Test func `every number reads back as it was written`() {
        for number in [Int.min, -1, 0, 1, 99, .max] { #expect(Int(signedDigits: String(number)) == number) }
        for number in [0.1, 1e-300, 123_456.789, 1e22] { #expect(Double(decimal: "\(number)") == number) }
    }
}
