/// This machine's names: in topics, and as people read it.
public struct MQTTIdentity: Equatable, Sendable {
    /// The name that people read.
    public let name: String
    /// The name in topics and in Home Assistant's identifiers: letters, digits, `-` and `_`.
    public let slug: String

    public init(name: String) {
        self.name = name
        slug = Self.slug(name)
    }

    /// A name of letters, digits, `-` and `_` for any text; different for different texts.
    ///
    /// A blank becomes `_`. Any other character becomes `-` and its code in hexadecimal, so that names of all scripts have one.
    public static func slug(_ text: String) -> String {
        var slug = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9": slug.unicodeScalars.append(scalar)
            case " ": slug += "_"
            default: slug += "-" + String(scalar.value, radix: 16)
            }
        }
        return slug
    }
}
