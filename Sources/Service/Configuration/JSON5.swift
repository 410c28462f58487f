import Core

/// A place in a text: line and column, both from 1. The column counts characters as editors do, a tab as one.
public struct TextPlace: Equatable, Comparable, Sendable, CustomStringConvertible {
    public let line: Int
    public let column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static func < (left: TextPlace, right: TextPlace) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    /// `3:14`.
    public var description: String { "\(line):\(column)" }
}

/// A value of a JSON5 text, and the place where it begins.
package struct JSON5Node: Equatable, Sendable {
    package indirect enum Value: Equatable, Sendable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([JSON5Node])
        /// The members in the order of the text; a name may occur twice.
        case object([Member])
    }

    package struct Member: Equatable, Sendable {
        package let name: String
        /// Where its name begins.
        package let place: TextPlace
        package let node: JSON5Node
    }

    package let value: Value
    package let place: TextPlace

    /// The value as an error message quotes it.
    package var description: String {
        switch value {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .number(let number): shortest(number)
        case .string(let text): text.count <= 40 ? "'\(text)'" : "'\(text.prefix(40))…'"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

/// A syntax error: its place and the reason.
package struct JSON5Error: Error, Equatable, CustomStringConvertible {
    package let place: TextPlace
    package let reason: String
    package var description: String { "\(place): \(reason)" }
}

/// Parses JSON5 (json5.org): JSON with comments, trailing commas, names without quotes and more number formats.
///
/// Foundation's decoder reads JSON5 too, but gives neither line nor reason when it rejects a text; the tests compare
/// the two parsers. The text may come from an untrusted source, so nesting is limited to 32 levels.
package struct JSON5Parser {
    private static let deepest = 32

    private let text: [Unicode.Scalar]
    private var position = 0
    private var line = 1
    /// The position of the first character of this line.
    private var lineStart = 0
    private var depth = 0

    /// Parses a text that holds one value, with comments and white space around it.
    package static func parse(_ text: String) throws(JSON5Error) -> JSON5Node {
        var parser = JSON5Parser(text: Array(text.unicodeScalars))
        // Some editors write a byte-order mark.
        if parser.peek == "\u{FEFF}" { (parser.position, parser.lineStart) = (1, 1) }
        try parser.skipBlanks()
        let node = try parser.value()
        try parser.skipBlanks()
        if let rest = parser.peek { throw parser.error("unexpected \(parser.quoted(rest)) after the end") }
        return node
    }

    private init(text: [Unicode.Scalar]) { self.text = text }

    /// The place of the next character.
    fileprivate var place: TextPlace { TextPlace(line: line, column: position - lineStart + 1) }

    fileprivate var peek: Unicode.Scalar? { position < text.count ? text[position] : nil }

    fileprivate mutating func next() -> Unicode.Scalar? {
        guard position < text.count else { return nil }
        let scalar = text[position]
        position += 1
        if scalar == "\n" { (line, lineStart) = (line + 1, position) }
        return scalar
    }

    fileprivate func error(_ reason: String) -> JSON5Error { JSON5Error(place: place, reason: reason) }

    private func quoted(_ scalar: Unicode.Scalar?) -> String {
        guard let scalar else { return "end of the text" }
        if scalar == "\n" || scalar == "\r" { return "end of line" }
        return scalar.properties.generalCategory == .control ? "control character" : "'\(scalar)'"
    }

    // MARK: - White space and comments

    private mutating func skipBlanks() throws(JSON5Error) {
        while let scalar = peek {
            if scalar == "/" {
                try skipComment()
            } else if scalar.properties.isWhitespace || scalar == "\u{FEFF}" {
                _ = next()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(JSON5Error) {
        let start = place
        _ = next()
        switch next() {
        case "/":
            while let scalar = peek, scalar != "\n" { _ = next() }
        case "*":
            var last: Unicode.Scalar?
            while let scalar = next() {
                if last == "*", scalar == "/" { return }
                last = scalar
            }
            throw JSON5Error(place: start, reason: "this comment has no end; close it with */")
        default: throw JSON5Error(place: start, reason: "unexpected '/'; a comment begins with // or /*")
        }
    }

    // MARK: - Values

    private mutating func value() throws(JSON5Error) -> JSON5Node {
        let start = place
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw error("nested deeper than \(Self.deepest) levels") }
        switch peek {
        case "{": return JSON5Node(value: .object(try members()), place: start)
        case "[": return JSON5Node(value: .array(try elements()), place: start)
        case "\"", "'": return JSON5Node(value: .string(try string()), place: start)
        case let scalar? where "+-.0123456789".unicodeScalars.contains(scalar):
            return JSON5Node(value: .number(try number()), place: start)
        case let scalar? where Self.beginsName(scalar):
            let word = try name()
            switch word {
            case "null": return JSON5Node(value: .null, place: start)
            case "true": return JSON5Node(value: .bool(true), place: start)
            case "false": return JSON5Node(value: .bool(false), place: start)
            case "Infinity": return JSON5Node(value: .number(.infinity), place: start)
            case "NaN": return JSON5Node(value: .number(.nan), place: start)
            default:
                throw JSON5Error(
                    place: start,
                    reason: "a value was expected, not \(word); text needs quotes, as in \"\(word)\""
                )
            }
        case nil: throw error("the text ends where a value was expected")
        case let scalar: throw error("a value was expected, not \(quoted(scalar))")
        }
    }

    private mutating func members() throws(JSON5Error) -> [JSON5Node.Member] {
        let start = place
        var members: [JSON5Node.Member] = []
        _ = next()
        while true {
            try skipBlanks()
            if peek == "}" {
                _ = next()
                return members
            }
            guard let first = peek else { throw unclosed("{", since: start) }
            let place = place
            let isQuoted = first == "\"" || first == "'"
            guard isQuoted || Self.beginsName(first) else {
                throw error("a key was expected, not \(quoted(first))")
            }
            let name = isQuoted ? try string() : try name()
            try skipBlanks()
            guard peek == ":" else { throw error("a colon was expected after the key \(name), not \(quoted(peek))") }
            _ = next()
            try skipBlanks()
            members.append(JSON5Node.Member(name: name, place: place, node: try value()))
            try comma(before: "}", opened: "{", since: start)
        }
    }

    private mutating func elements() throws(JSON5Error) -> [JSON5Node] {
        let start = place
        var elements: [JSON5Node] = []
        _ = next()
        while true {
            try skipBlanks()
            if peek == "]" {
                _ = next()
                return elements
            }
            guard peek != nil else { throw unclosed("[", since: start) }
            elements.append(try value())
            try comma(before: "]", opened: "[", since: start)
        }
    }

    /// Reads what follows a value: a comma, or nothing before the closing bracket.
    private mutating func comma(before end: Unicode.Scalar, opened: String, since start: TextPlace) throws(JSON5Error) {
        let after = place
        try skipBlanks()
        switch peek {
        case ",": _ = next()
        case end: break
        case nil: throw unclosed(opened, since: start)
        default: throw JSON5Error(place: after, reason: "a comma or \(quoted(end)) was expected, not \(quoted(peek))")
        }
    }

    private func unclosed(_ bracket: String, since start: TextPlace) -> JSON5Error {
        JSON5Error(place: start, reason: "this \(bracket) is never closed")
    }
}

// MARK: - Names, strings and numbers

extension JSON5Parser {
    fileprivate static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "$" || scalar == "_" || scalar.properties.isIDStart
    }

    fileprivate mutating func name() throws(JSON5Error) -> String {
        var name = String.UnicodeScalarView()
        while let scalar = peek, scalar == "$" || scalar.properties.isIDContinue {
            name.append(scalar)
            _ = next()
        }
        return String(name)
    }

    fileprivate mutating func string() throws(JSON5Error) -> String {
        let start = place
        let quote = next()
        var out = String.UnicodeScalarView()
        while let scalar = next() {
            switch scalar {
            case quote: return String(out)
            case "\\": if let escaped = try escape() { out.append(escaped) }
            case "\n", "\r": throw JSON5Error(place: start, reason: "this text has no closing quote on its line")
            default: out.append(scalar)
            }
        }
        throw JSON5Error(place: start, reason: "this text has no closing quote")
    }

    /// The character of the escape sequence after a backslash; nil for a line continuation.
    private mutating func escape() throws(JSON5Error) -> Unicode.Scalar? {
        switch next() {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "v": return "\u{B}"
        case "0": return "\0"
        case "\n": return nil
        case "\r":
            if peek == "\n" { _ = next() }
            return nil
        case "x": return Unicode.Scalar(try hexadecimal(2))
        case "u": return try codePoint()
        case let scalar?: return scalar
        case nil: throw error("the text ends after a backslash")
        }
    }

    private mutating func codePoint() throws(JSON5Error) -> Unicode.Scalar? {
        var code = try hexadecimal(4)
        if (0xD800..<0xDC00).contains(code) {
            // A surrogate pair: a code point above U+FFFF.
            guard next() == "\\", next() == "u" else { throw error("half a surrogate pair") }
            let low = try hexadecimal(4)
            guard (0xDC00..<0xE000).contains(low) else { throw error("half a surrogate pair") }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw error("half a surrogate pair") }
        return scalar
    }

    private mutating func hexadecimal(_ digits: Int) throws(JSON5Error) -> UInt32 {
        var word = String.UnicodeScalarView()
        while word.count < digits, let scalar = next() { word.append(scalar) }
        guard word.count == digits, let code = UInt32(hexDigits: String(word)) else {
            throw error("\(digits) hexadecimal digits were expected")
        }
        return code
    }

    fileprivate mutating func number() throws(JSON5Error) -> Double {
        let start = place
        var word = ""
        while let scalar = peek,
            scalar.properties.isIDContinue || scalar == "." || scalar == "+" || scalar == "-"
        {
            word.unicodeScalars.append(scalar)
            _ = next()
        }
        if let number = Self.number(word) { return number }
        throw JSON5Error(place: start, reason: "'\(word)' is no number; text needs quotes")
    }

    private static func number(_ word: String) -> Double? {
        let isNegative = word.hasPrefix("-")
        let digits = isNegative || word.hasPrefix("+") ? String(word.dropFirst()) : word
        var value: Double?
        if digits == "Infinity" {
            value = .infinity
        } else if digits == "NaN" {
            value = .nan
        } else if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            value = UInt64(hexDigits: digits.dropFirst(2)).map { Double($0) }
        } else if digits.allSatisfy({ $0.isASCII && ($0.isNumber || ".eE+-".contains($0)) }),
            digits.first != "+", digits.first != "-",
            !(digits.hasPrefix("0") && digits.dropFirst().first?.isNumber == true)
        {
            // A decimal number is neither ".5" nor "5.".
            let parts = digits.split(omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
            guard let mantissa = parts.first, mantissa.contains(where: \.isNumber), parts.count <= 2 else { return nil }
            let whole = "0" + mantissa + (mantissa.hasSuffix(".") ? "0" : "")
            value = Double(decimal: parts.count == 2 ? "\(whole)e\(parts[1])" : whole)
        }
        return value.map { isNegative ? -$0 : $0 }
    }
}
