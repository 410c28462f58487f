/// Reads JSON5 (json5.org): JSON with comments, trailing commas, names without quotes and numbers as people write them.
///
/// Foundation's decoder reads JSON5 too, but tells neither the line nor the reason when it refuses a text. The tests
/// compare the two. Texts may come from strangers: nothing is deeper than 32 levels.
struct JSON5Parser {
    private static let deepest = 32

    private let text: [Unicode.Scalar]
    private var position = 0
    private(set) var line = 1
    private var depth = 0

    /// The one value of a text, comments and blanks around it.
    static func parse(_ text: String) throws(JSON5Error) -> JSON5Node {
        var parser = JSON5Parser(text: Array(text.unicodeScalars))
        // A byte-order mark, as some editors write.
        if parser.peek == "\u{FEFF}" { parser.position = 1 }
        try parser.skipBlanks()
        let node = try parser.value()
        try parser.skipBlanks()
        if let rest = parser.peek { throw parser.error("unexpected \(parser.quoted(rest)) after the end") }
        return node
    }

    private init(text: [Unicode.Scalar]) { self.text = text }

    var peek: Unicode.Scalar? { position < text.count ? text[position] : nil }

    mutating func next() -> Unicode.Scalar? {
        guard position < text.count else { return nil }
        let scalar = text[position]
        position += 1
        if scalar == "\n" { line += 1 }
        return scalar
    }

    func error(_ reason: String) -> JSON5Error { JSON5Error(line: line, reason: reason) }

    private func quoted(_ scalar: Unicode.Scalar?) -> String {
        guard let scalar else { return "end of the text" }
        if scalar == "\n" || scalar == "\r" { return "end of line" }
        return scalar.properties.generalCategory == .control ? "control character" : "'\(scalar)'"
    }

    // MARK: - Blanks and comments

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
        let start = line
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
            throw JSON5Error(line: start, reason: "this comment has no end; close it with */")
        default: throw JSON5Error(line: start, reason: "unexpected '/'; a comment begins with // or /*")
        }
    }

    // MARK: - Values

    private mutating func value() throws(JSON5Error) -> JSON5Node {
        let start = line
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw error("nested deeper than \(Self.deepest) levels") }
        switch peek {
        case "{": return JSON5Node(value: .object(try members()), line: start)
        case "[": return JSON5Node(value: .array(try elements()), line: start)
        case "\"", "'": return JSON5Node(value: .string(try string()), line: start)
        case let scalar? where "+-.0123456789".unicodeScalars.contains(scalar):
            return JSON5Node(value: .number(try number()), line: start)
        case let scalar? where Self.beginsName(scalar):
            let word = try name()
            switch word {
            case "null": return JSON5Node(value: .null, line: start)
            case "true": return JSON5Node(value: .bool(true), line: start)
            case "false": return JSON5Node(value: .bool(false), line: start)
            case "Infinity": return JSON5Node(value: .number(.infinity), line: start)
            case "NaN": return JSON5Node(value: .number(.nan), line: start)
            default: throw error("a value was expected, not \(word); text needs quotes, as in \"\(word)\"")
            }
        case nil: throw error("the text ends where a value was expected")
        case let scalar: throw error("a value was expected, not \(quoted(scalar))")
        }
    }

    private mutating func members() throws(JSON5Error) -> [JSON5Node.Member] {
        let start = line
        var members: [JSON5Node.Member] = []
        _ = next()
        while true {
            try skipBlanks()
            if peek == "}" {
                _ = next()
                return members
            }
            guard let first = peek else { throw unclosed("{", since: start) }
            let line = line
            let isQuoted = first == "\"" || first == "'"
            guard isQuoted || Self.beginsName(first) else {
                throw error("a key was expected, not \(quoted(first))")
            }
            let name = isQuoted ? try string() : try name()
            try skipBlanks()
            guard peek == ":" else { throw error("a colon was expected after the key \(name), not \(quoted(peek))") }
            _ = next()
            try skipBlanks()
            members.append(JSON5Node.Member(name: name, line: line, node: try value()))
            try comma(before: "}", opened: "{", since: start)
        }
    }

    private mutating func elements() throws(JSON5Error) -> [JSON5Node] {
        let start = line
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

    /// After a value: a comma, or the bracket that closes.
    private mutating func comma(before end: Unicode.Scalar, opened: String, since start: Int) throws(JSON5Error) {
        let after = line
        try skipBlanks()
        switch peek {
        case ",": _ = next()
        case end: break
        case nil: throw unclosed(opened, since: start)
        default: throw JSON5Error(line: after, reason: "a comma or \(quoted(end)) was expected, not \(quoted(peek))")
        }
    }

    private func unclosed(_ bracket: String, since start: Int) -> JSON5Error {
        JSON5Error(line: start, reason: "this \(bracket) is never closed")
    }
}
