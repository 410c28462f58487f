import Core

/// What a ``JSONReader`` takes.
package enum JSONDialect: Sendable {
    /// JSON (RFC 8259), as programs send it to each other.
    case strict
    /// JSON5 (json5.org), as people write it: also comments, trailing commas, names without quotes and more number formats.
    case json5
}

/// A syntax error: its place and the reason.
package struct JSONError: Error, Equatable, CustomStringConvertible {
    package let place: TextPlace
    package let reason: String
    package var description: String { "\(place): \(reason)" }
}

/// Reads JSON from memory, value by value, without building a tree; ``JSONNode`` is the tree.
///
/// All of the text is checked, also what is skipped; only the bytes of skipped strings need not be UTF-8. The text may come from an
/// untrusted source: none can make it read outside its memory, and nesting is limited to 32 levels.
package struct JSONReader {
    /// A string or a name as it stands in the text, escapes included.
    package struct RawString {
        /// Without quotes.
        package let bytes: UnsafeBufferPointer<UInt8>
        /// Where it begins, and where its bytes do.
        let start: Int, content: Int

        /// For `switch`: faster than a `String`, in which escapes are decoded.
        package static func ~= (name: StaticString, raw: RawString) -> Bool {
            name.utf8CodeUnitCount == raw.bytes.count
                && (0..<raw.bytes.count).allSatisfy { name.utf8Start[$0] == raw.bytes[$0] }
        }
    }

    /// What a value is, by its first character. A word is `null`, `true` or `false`.
    package enum Kind { case object, list, string, number, word }

    private static let deepest = 32

    let bytes: UnsafeBufferPointer<UInt8>
    let dialect: JSONDialect
    let start: Int
    var position: Int
    private(set) var depth = 0
    /// The place that was asked for last: the next is counted from there.
    private var known: (offset: Int, place: TextPlace)

    package init(_ bytes: UnsafeBufferPointer<UInt8>, _ dialect: JSONDialect = .strict) {
        self.bytes = bytes
        self.dialect = dialect
        // Some editors write a byte-order mark.
        start = dialect == .json5 && bytes.starts(with: "\u{FEFF}".utf8) ? 3 : 0
        position = start
        known = (start, TextPlace(line: 1, column: 1))
    }

    // MARK: - Values

    /// What the next value is.
    package mutating func kind() throws(JSONError) -> Kind {
        try skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .list
        case UInt8(ascii: "\""): return .string
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): return .number
        case UInt8(ascii: "'") where dialect == .json5: return .string
        case UInt8(ascii: "+") where dialect == .json5, UInt8(ascii: ".") where dialect == .json5: return .number
        case nil where dialect == .json5 && depth == 0: throw error("there is nothing here; write { } at least")
        case nil: throw error("the text ends where a value was expected")
        default:
            guard beginsName else { throw error("a value was expected, not \(nextText)") }
            return .word
        }
    }

    /// Reads an object.
    ///
    /// - Parameter member: reads the member's value, all of it.
    package mutating func object(
        _ member: (inout JSONReader, _ name: RawString) throws(JSONError) -> Void
    ) throws(JSONError) {
        guard try kind() == .object else { throw error("an object was expected, not \(nextText)") }
        try sequence(to: "}") { reader throws(JSONError) in
            let name = try reader.key()
            try reader.skipBlanks()
            guard reader.next == UInt8(ascii: ":") else {
                let name = try reader.decode(name)
                let hint = reader.quotationHint(at: reader.position)
                throw reader.error("a colon was expected after the key \(name), not \(reader.nextText)\(hint)")
            }
            reader.position += 1
            try member(&reader, name)
        }
    }

    /// Whether the next value is `null`.
    package mutating func isNull() throws(JSONError) -> Bool { try kind() == .word && next == UInt8(ascii: "n") }

    /// Reads a list.
    ///
    /// - Parameter element: reads an element, all of it.
    package mutating func list(_ element: (inout JSONReader) throws(JSONError) -> Void) throws(JSONError) {
        guard try kind() == .list else { throw error("a list was expected, not \(nextText)") }
        try sequence(to: "]", element)
    }

    /// Reads any value; returns it if it is a string of UTF-8 without half a surrogate pair.
    package mutating func string() throws(JSONError) -> String? {
        guard try kind() == .string else {
            try skip()
            return nil
        }
        let raw = try rawString()
        return try? decode(raw)
    }

    /// Reads any value; returns it if it is a number without an exponent, its fraction cut off.
    package mutating func integer() throws(JSONError) -> Int? {
        guard try kind() == .number else {
            try skip()
            return nil
        }
        let number = try numberBytes()
        let isNegative = number.first == UInt8(ascii: "-")
        let whole = Int(digits: number.dropFirst(isNegative ? 1 : 0).prefix { $0 != UInt8(ascii: ".") })
        return whole.map { isNegative ? -$0 : $0 }
    }

    /// Reads any value; returns its text if it is an object in UTF-8 of at most this many bytes.
    package mutating func objectText(most: Int) throws(JSONError) -> String? {
        let isObject = try kind() == .object
        let start = position
        try skip()
        guard isObject, position - start <= most else { return nil }
        return String(validating: bytes[start..<position], as: UTF8.self)
    }

    /// Reads any value.
    package mutating func skip() throws(JSONError) {
        switch try kind() {
        case .object: try object { reader, _ throws(JSONError) in try reader.skip() }
        case .list: try list { reader throws(JSONError) in try reader.skip() }
        case .string: _ = try rawString()
        case .number: _ = try numberBytes()
        case .word: _ = try word()
        }
    }

    /// Reads blanks to the end of the text.
    package mutating func end() throws(JSONError) {
        try skipBlanks()
        if next != nil { throw error("unexpected \(nextText) after the end") }
    }

    /// Reads `null`, `true` or `false`, and in JSON5 `Infinity` or `NaN`.
    mutating func word() throws(JSONError) -> JSONNode.Value {
        let start = position
        switch try decode(name()) {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "Infinity" where dialect == .json5: return .number(.infinity)
        case "NaN" where dialect == .json5: return .number(.nan)
        case let word:
            if let hint = formatHint(after: word) { throw error(hint, at: start) }
            if dialect == .json5, let meant = Self.value(called: word) {
                throw error("a value was expected, not \(word); did you mean \(meant)?", at: start)
            }
            throw error("a value was expected, not \(word); text needs quotes, as in \"\(word)\"", at: start)
        }
    }

    mutating func number() throws(JSONError) -> Double {
        let start = position
        let bytes = try numberBytes()
        if dialect == .strict, let number = Self.exactNumber(bytes) { return number }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let number = dialect == .json5 ? Self.json5Number(text) : Double(decimal: text) else {
            let hint = numberHint(text)
            throw error("'\(text)' is not a number\(hint.isEmpty ? "; text needs quotes" : hint)", at: start)
        }
        return number
    }

    // MARK: - Parts

    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// The place of an offset. Fast where offsets rise.
    mutating func place(at offset: Int) -> TextPlace {
        if offset < known.offset { known = (start, TextPlace(line: 1, column: 1)) }
        var (line, column) = (known.place.line, known.place.column)
        for index in known.offset..<offset {
            if bytes[index] == UInt8(ascii: "\n") {
                (line, column) = (line + 1, 1)
            } else if bytes[index] & 0xC0 != 0x80 {
                column += 1
            }
        }
        known = (offset, TextPlace(line: line, column: column))
        return known.place
    }

    /// - Parameter offset: nil for the next character.
    mutating func error(_ reason: String, at offset: Int? = nil) -> JSONError {
        JSONError(place: place(at: offset ?? position), reason: reason)
    }

    /// The next character as an error shows it.
    private var nextText: String {
        guard let scalar = nextScalar else { return "end of the text" }
        if scalar == "\n" || scalar == "\r" { return "end of line" }
        return scalar.properties.generalCategory == .control ? "control character" : "'\(scalar)'"
    }

    mutating func skipBlanks() throws(JSONError) {
        while let byte = next {
            if byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
                position += 1
            } else if dialect == .strict {
                return
            } else if try !skipJSON5Blank() {
                return
            }
        }
    }

    private mutating func sequence(
        to end: Unicode.Scalar,
        _ element: (inout JSONReader) throws(JSONError) -> Void
    ) throws(JSONError) {
        let start = position
        guard depth < Self.deepest else { throw error("nested deeper than \(Self.deepest) levels") }
        depth += 1
        position += 1
        var mayEnd = true
        while true {
            try skipBlanks()
            if mayEnd, next == UInt8(ascii: end) { break }
            guard next != nil else { throw unclosed(start) }
            try element(&self)
            let after = position
            try skipBlanks()
            switch next {
            case UInt8(ascii: ","):
                position += 1
                mayEnd = dialect == .json5
            case UInt8(ascii: end): mayEnd = true
            case nil: throw unclosed(start)
            default:
                let hint = quotationHint(at: after)
                throw error("a comma or '\(end)' was expected, not \(nextText)\(hint)", at: after)
            }
        }
        position += 1
        depth -= 1
    }

    private mutating func unclosed(_ start: Int) -> JSONError {
        error("this \(Unicode.Scalar(bytes[start])) is never closed", at: start)
    }

    private mutating func key() throws(JSONError) -> RawString {
        try skipBlanks()
        switch next {
        case UInt8(ascii: "\""): return try rawString()
        case UInt8(ascii: "'") where dialect == .json5: return try rawString()
        default:
            guard dialect == .json5, beginsName else { throw error("a key was expected, not \(nextText)") }
            return name()
        }
    }

    /// Reads a number, in JSON5 any word that begins like one.
    private mutating func numberBytes() throws(JSONError) -> UnsafeBufferPointer<UInt8> {
        let start = position
        guard dialect == .strict else {
            skipJSON5Number()
            return UnsafeBufferPointer(rebasing: bytes[start..<position])
        }
        if next == UInt8(ascii: "-") { position += 1 }
        let isZero = next == UInt8(ascii: "0")
        let whole = digits()
        guard whole == 1 || !isZero else { throw error("a number has a zero before it", at: start) }
        var isComplete = whole > 0
        if next == UInt8(ascii: ".") {
            position += 1
            isComplete = digits() > 0 && isComplete
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            isComplete = digits() > 0 && isComplete
        }
        guard isComplete else { throw error("a digit was expected, not \(nextText)") }
        return UnsafeBufferPointer(rebasing: bytes[start..<position])
    }

    /// The value of a number of at most 15 digits without an exponent: the digits, and the power of ten that divides them, are then exact, so
    /// that the quotient is rounded once, as it should be. Nil for others. A model's description has thousands of these.
    private static func exactNumber(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        var digits: Int64 = 0
        var (count, decimals) = (0, 0)
        var (isNegative, isFraction) = (false, false)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits = digits * 10 + Int64(byte - UInt8(ascii: "0"))
                count += 1
                if isFraction { decimals += 1 }
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): isFraction = true
            default: return nil
            }
            guard count <= 15 else { return nil }
        }
        let number = Double(digits) / powersOfTen[decimals]
        return isNegative ? -number : number
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    /// Reads digits; returns how many.
    private mutating func digits() -> Int {
        let start = position
        while let byte = next, Self.isDigit(byte) { position += 1 }
        return position - start
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
