import Core
import Testing

struct QuotationMarksTests {
    @Test func `what stands between quotation marks of text programs`() {
        let rows: [(String, String?)] = [
            ("\u{201C}yes\u{201D}", "yes"), ("\u{201E}yes\u{201C}", "yes"), ("\u{2018}hey house\u{2019}", "hey house"),
            ("\u{201C}\u{201D}", ""), ("yes", nil), ("\u{2019}s", nil), ("\u{201C}", nil), ("", nil), ("\"yes\"", nil),
        ]
        for (text, expected) in rows { #expect(QuotationMarks.inside(text) == expected, "\(text)") }
    }
}
