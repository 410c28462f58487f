import Core

/// What JSON5 (json5.org) has besides JSON: names without quotes, comments, other blanks, more number formats.
extension JSONReader {
    /// The next character.
    var nextScalar: Unicode.Scalar? {
        guard let byte = next else { return nil }
        return byte < 0x80
            ? Unicode.Scalar(byte) : String(decoding: bytes[position...].prefix(4), as: UTF8.self).unicodeScalars.first
    }

    private mutating func skip(_ scalar: Unicode.Scalar) {
        position = min(position + UTF8.width(scalar), bytes.count)
    }

    /// Whether a name begins here.
    var beginsName: Bool { nextScalar.map { $0 == "$" || $0 == "_" || $0.properties.isIDStart } ?? false }

    /// Reads a name without quotes.
    mutating func name() -> RawString {
        let start = position
        while let scalar = nextScalar, scalar == "$" || scalar.properties.isIDContinue { skip(scalar) }
        return RawString(bytes: UnsafeBufferPointer(rebasing: bytes[start..<position]), start: start, content: start)
    }

    /// Reads a comment, or a blank that JSON does not have; false if there is none.
    mutating func skipJSON5Blank() throws(JSONError) -> Bool {
        guard let scalar = nextScalar else { return false }
        if scalar == "/" {
            try skipComment()
        } else if scalar.properties.isWhitespace || scalar == "\u{FEFF}" {
            skip(scalar)
        } else {
            try refuseLookalike(scalar)
            return false
        }
        return true
    }

    private mutating func skipComment() throws(JSONError) {
        let start = position
        let rest = bytes[start...]
        if rest.starts(with: "//".utf8) {
            position = rest.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        } else if rest.starts(with: "/*".utf8) {
            position += 2
            while !bytes[position...].starts(with: "*/".utf8) {
                guard position < bytes.count else {
                    throw error("this comment has no end; close it with */", at: start)
                }
                position += 1
            }
            position += 2
        } else {
            throw error("unexpected '/'; a comment begins with // or /*")
        }
    }

    mutating func skipJSON5Number() {
        while let scalar = nextScalar,
            scalar.properties.isIDContinue || scalar == "." || scalar == "+" || scalar == "-"
        {
            skip(scalar)
        }
    }

    static func json5Number(_ word: String) -> Double? {
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
