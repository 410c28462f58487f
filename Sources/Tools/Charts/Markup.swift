private import Core

/// HTML or SVG as well-formed XML; text and attribute values are escaped.
public struct Markup: Sendable, Equatable {
    public let source: String

    /// Plain text, escaped.
    public static func text(_ text: String) -> Markup { Markup(source: escaped(text)) }

    /// An element with its attributes, whose values are escaped, and its children. An empty class or style is left out.
    public static func element(
        _ name: String,
        _ attributes: KeyValuePairs<String, String> = [:],
        _ content: [Markup] = []
    ) -> Markup {
        var source = "<" + name
        for (key, value) in attributes where !value.isEmpty || (key != "class" && key != "style") {
            source += " \(key)=\"\(escaped(value))\""
        }
        guard !content.isEmpty else {
            // HTML has no end tags for these elements, and needs one for all others.
            return Markup(source: source + (closesItself.contains(name) ? "/>" : "></\(name)>"))
        }
        source += ">"
        for part in content { source += part.source }
        return Markup(source: source + "</\(name)>")
    }

    private static let closesItself: Set<String> = ["meta", "br", "hr", "rect", "line", "circle", "polyline", "path"]
}

/// Text escaped for content and attributes.
///
/// XML cannot represent control characters: each becomes U+FFFD, as do format characters that change how their neighbours
/// are shown; line ends and tabs become spaces.
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
    isHidden(scalar) || scalar.value == 0xFFFE || scalar.value == 0xFFFF
}

/// A number without trailing zeros, by default with at most two decimals.
func short(_ value: Double, places: Int = 2) -> String {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    // Renderers use floats for coordinates; values this large are outside every chart.
    let bounded = value.isNaN ? 0 : min(max(value, -1e9), 1e9)
    // Adding zero makes −0 positive.
    let text = "\((bounded * scale).rounded() / scale + 0)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}
