/// The columns that a text takes on a terminal: 2 for wide characters of East Asia and emoji, 0 for combining marks.
///
/// Source: Unicode Standard Annex 11, East Asian Width, W and F. Not `wcwidth`, whose answer depends on the locale.
public func columns(_ text: String) -> Int {
    // All ASCII characters take one column.
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + columns($1) }
}

/// The longest beginning of a text that takes at most so many columns of a terminal.
public func prefix(_ text: String, columns room: Int) -> String {
    var rest = room
    return String(
        text.prefix { character in
            rest -= columns(character)
            return rest >= 0
        }
    )
}

private func columns(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    let isEmoji = scalars.contains { $0.properties.isEmojiPresentation || $0.value == 0xFE0F }
    if isEmoji { return 2 }
    // The letters of a Hangul syllable in parts share its two columns.
    if let first = scalars.first, (0x1100...0x115F).contains(first.value) { return 2 }
    return scalars.reduce(0) { $0 + columns($1) }
}

private func columns(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }
}

/// Scalars of width W or F, without emoji, which are found by their property.
private let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60,
    0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1B000...0x1B2FB, 0x1F200...0x1F265, 0x20000...0x3FFFD,
]
