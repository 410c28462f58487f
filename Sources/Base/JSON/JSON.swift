import Core

/// A JSON value (RFC 8259). Objects keep the order of their members; numbers keep the decimals they were created with.
///
/// Literals are values, so an object in code looks as it is printed:
///
///     let line: JSON = ["word": .string(name), "takes": .number(takes), "confidence": .number(confidence, places: 4)]
public enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case string(String)
    /// Text that is JSON already: a number, or the output of another encoder. It is not checked.
    case encoded(String)
    case array([JSON])
    case object([Member])

    /// A name and its value. Names in an object should differ; this is not checked.
    public struct Member: Equatable, Sendable {
        public let name: String
        public let value: JSON

        public init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }
}

// MARK: - Making values

extension JSON {
    public static func number(_ value: some BinaryInteger) -> JSON { .encoded(String(value)) }

    /// A number with a fixed number of decimals, as ``decimal(_:_:)`` writes it.
    public static func number(_ value: Double, places: Int) -> JSON { .encoded(decimal(value, places)) }

    public static func number(_ value: Float, places: Int) -> JSON { .number(Double(value), places: places) }

    /// A number as the shortest text that reads back as the same number, such as `0.7`; null if it is not finite.
    public static func shortest(_ value: some BinaryFloatingPoint & CustomStringConvertible) -> JSON {
        value.isFinite ? .encoded(value.description) : .null
    }

    /// A string, or null for nil.
    public static func optional(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }

    public static func strings(_ texts: some Sequence<String>) -> JSON { .array(texts.map(JSON.string)) }

    /// Adds members to an object; those that are nil are left out. Any other value is replaced by an object of these members.
    public mutating func append(_ members: KeyValuePairs<String, JSON?>) {
        append(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// Adds members to an object. Any other value is replaced by an object of these members.
    public mutating func append(_ members: [Member]) { self = .object(self.members + members) }

    /// The members of an object; empty for any other value.
    public var members: [Member] { if case .object(let members) = self { members } else { [] } }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int) { self = .number(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSON)...) { self = .object(elements.map { Member($0, $1) }) }
}

// MARK: - Writing

extension JSON: CustomStringConvertible {
    /// The value on one line, with a space after each comma and colon, without a newline.
    public var description: String {
        var text = ""
        write(to: &text)
        return text
    }

    /// The value on one line without any blanks between its parts.
    package var compact: String {
        var text = ""
        write(to: &text, blank: "")
        return text
    }

    /// The value and a newline, for output with one value per line.
    public var line: String { description + "\n" }

    /// The value on many lines, with members and elements indented by four spaces, and a newline. Lists of plain values
    /// that fit one line stay on it.
    public var indented: String {
        var text = ""
        write(to: &text, margin: "")
        return text + "\n"
    }

    /// Whether this is a list of plain values, of at most 80 bytes.
    private var fitsOneLine: Bool {
        guard case .array(let elements) = self else { return false }
        let isPlain = elements.allSatisfy { element in
            switch element {
            case .array, .object: false
            default: true
            }
        }
        return isPlain && description.utf8.count <= 80
    }

    /// - Parameters:
    ///   - margin: of the lines for members and elements; nil for a value on one line.
    ///   - blank: what follows commas and colons.
    private func write(to text: inout String, margin: String? = nil, blank: String = " ") {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .string(let value): Self.write(value, to: &text)
        case .encoded(let value): text += value
        case .array(let elements):
            let margin = margin == nil || fitsOneLine ? nil : margin
            Self.write(elements, between: ("[", "]"), to: &text, margin, blank) {
                $0.write(to: &$1, margin: $2, blank: blank)
            }
        case .object(let members):
            Self.write(members, between: ("{", "}"), to: &text, margin, blank) { member, text, margin in
                Self.write(member.name, to: &text)
                text += ":" + blank
                member.value.write(to: &text, margin: margin, blank: blank)
            }
        }
    }

    private static func write<Part>(
        _ parts: [Part],
        between ends: (String, String),
        to text: inout String,
        _ margin: String?,
        _ blank: String,
        _ put: (Part, inout String, _ inner: String?) -> Void
    ) {
        let inner = parts.isEmpty ? nil : margin.map { $0 + "    " }
        text += ends.0
        for (index, part) in parts.enumerated() {
            if index > 0 { text += inner == nil ? "," + blank : "," }
            if let inner { text += "\n" + inner }
            put(part, &text, inner)
        }
        if inner != nil, let margin { text += "\n" + margin }
        text += ends.1
    }

    /// Appends a string with its quotes. Characters that JSON forbids in strings, and those that a terminal would not show, are
    /// escaped; all others stay UTF-8.
    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where isHidden(scalar): text += escape(scalar)
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    /// A scalar as `\u001b`; as a surrogate pair beyond U+FFFF.
    private static func escape(_ scalar: Unicode.Scalar) -> String {
        UTF16.encode(scalar).map { units in units.map { "\\u" + padded($0, 4, radix: 16) }.joined() } ?? ""
    }
}
