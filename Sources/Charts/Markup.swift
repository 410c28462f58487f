/// Text that is HTML, SVG or both: well-formed XML, with everything from outside escaped.
public struct Markup: Sendable, Equatable {
    public let source: String

    /// Plain text, escaped.
    public static func text(_ text: String) -> Markup { Markup(source: escaped(text)) }

    /// An element with its attributes, whose values are escaped, and what is in it.
    public static func element(
        _ name: String,
        _ attributes: KeyValuePairs<String, String> = [:],
        _ content: [Markup] = []
    ) -> Markup {
        var source = "<" + name
        for (key, value) in attributes { source += " \(key)=\"\(escaped(value))\"" }
        guard !content.isEmpty else {
            // Browsers close these elements at their start tags only, and all others never.
            return Markup(source: source + (closesItself.contains(name) ? "/>" : "></\(name)>"))
        }
        source += ">"
        for part in content { source += part.source }
        return Markup(source: source + "</\(name)>")
    }

    private static let closesItself: Set<String> = ["meta", "br", "hr", "rect", "line", "circle", "polyline", "path"]
}

/// Text as it may stand in content and in attributes.
///
/// XML has no way to write control characters at all, so that each of them becomes U+FFFD; line ends and tabs become
/// spaces.
func escaped(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        switch scalar {
        case "&": scalars += "&amp;".unicodeScalars
        case "<": scalars += "&lt;".unicodeScalars
        case ">": scalars += "&gt;".unicodeScalars
        case "\"": scalars += "&quot;".unicodeScalars
        case "'": scalars += "&#39;".unicodeScalars
        case "\t", "\n", "\r": scalars.append(" ")
        case _ where isForbidden(scalar): scalars.append("\u{FFFD}")
        default: scalars.append(scalar)
        }
    }
    return String(scalars)
}

private func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value == 0xFFFE || scalar.value == 0xFFFF
}

/// A coordinate or a tick: two decimals unless told otherwise, none where they are zero.
func short(_ value: Double, places: Int = 2) -> String {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    // Renderers hold coordinates in floats at best; nothing this far out is seen.
    let bounded = value.isNaN ? 0 : min(max(value, -1e9), 1e9)
    // Adding zero takes the sign off a negative zero.
    let text = "\((bounded * scale).rounded() / scale + 0)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}
