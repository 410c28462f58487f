import Core

/// Strings, their escapes and their UTF-8.
extension JSONReader {
    /// Reads a string.
    mutating func rawString() throws(JSONError) -> RawString {
        let start = position
        let quote = next
        position += 1
        while let byte = next {
            switch byte {
            case quote:
                position += 1
                return RawString(
                    bytes: UnsafeBufferPointer(rebasing: bytes[start + 1..<position - 1]),
                    start: start,
                    content: start + 1
                )
            case UInt8(ascii: "\\"): try skipEscape()
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                throw error("this text has no closing quote on its line\(quotationHint(at: start))", at: start)
            case 0..<0x20 where dialect == .strict: throw error("a control character in text")
            default: position += 1
            }
        }
        throw error("this text has no closing quote\(quotationHint(at: start))", at: start)
    }

    private mutating func skipEscape() throws(JSONError) {
        position += 1
        guard let byte = next else { throw error("the text ends after a backslash") }
        position += 1
        switch byte {
        case UInt8(ascii: "\r") where dialect == .json5 && next == UInt8(ascii: "\n"): position += 1
        case _ where dialect == .json5: break
        case UInt8(ascii: "u"): _ = try hexadecimal(4)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            break
        default: throw error("an unknown character after a backslash", at: position - 1)
        }
    }

    /// The text of a string or a name.
    package mutating func decode(_ raw: RawString) throws(JSONError) -> String {
        guard raw.bytes.contains(UInt8(ascii: "\\")) else { return try utf8(raw.bytes, raw) }
        let end = position
        defer { position = end }
        position = raw.content
        var text: [UInt8] = []
        while position < raw.content + raw.bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\\") { try escape(&text) } else { text.append(byte) }
        }
        return try utf8(text, raw)
    }

    private mutating func utf8(_ bytes: some Sequence<UInt8>, _ raw: RawString) throws(JSONError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw error("this text is not UTF-8", at: raw.start)
        }
        return text
    }

    /// Reads what follows a backslash.
    private mutating func escape(_ text: inout [UInt8]) throws(JSONError) {
        guard let byte = next else { throw error("the text ends after a backslash") }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "u"): text += String(try codePoint()).utf8
        // A strict text has none of these.
        case UInt8(ascii: "v"): text.append(0x0B)
        case UInt8(ascii: "0"): text.append(0)
        case UInt8(ascii: "x"): text += String(Unicode.Scalar(UInt8(truncatingIfNeeded: try hexadecimal(2)))).utf8
        // A line goes on.
        case UInt8(ascii: "\n"): break
        case UInt8(ascii: "\r"): if next == UInt8(ascii: "\n") { position += 1 }
        default: text.append(byte)
        }
    }

    private mutating func codePoint() throws(JSONError) -> Unicode.Scalar {
        var code = try hexadecimal(4)
        if (0xD800..<0xDC00).contains(code) {
            // A surrogate pair: a code point above U+FFFF.
            guard bytes[position...].starts(with: "\\u".utf8) else { throw error("half a surrogate pair") }
            position += 2
            let low = try hexadecimal(4)
            guard (0xDC00..<0xE000).contains(low) else { throw error("half a surrogate pair") }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw error("half a surrogate pair") }
        return scalar
    }

    private mutating func hexadecimal(_ count: Int) throws(JSONError) -> UInt32 {
        let digits = bytes[position...].prefix(count)
        guard digits.count == count, let code = UInt32(hexDigits: digits) else {
            throw error("\(count) hexadecimal digits were expected")
        }
        position += count
        return code
    }
}
