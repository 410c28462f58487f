/// The quotation marks of text programs and telephones, which neither a shell nor JSON takes for quotes.
public enum QuotationMarks {
    /// They stand for `"`.
    public static let double = "\u{201C}\u{201D}\u{201E}\u{201F}\u{AB}\u{BB}\u{2033}\u{FF02}"
    /// They stand for `'`. Some are apostrophes within a word.
    public static let single = "\u{2018}\u{2019}\u{201A}\u{201B}\u{2039}\u{203A}\u{2032}\u{FF07}\u{B4}`"

    /// The text between two of them; nil where they do not stand at both of its ends.
    public static func inside(_ text: String) -> String? {
        func isMark(_ character: Character) -> Bool { double.contains(character) || single.contains(character) }
        guard let first = text.first, let last = text.dropFirst().last, isMark(first), isMark(last) else { return nil }
        return String(text.dropFirst().dropLast())
    }
}
