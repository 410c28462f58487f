/// Words, texts and numbers.
extension JSON5Parser {
    static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "$" || scalar == "_" || scalar.properties.isIDStart
    }

    mutating func name() throws(JSON5Error) -> String {
        var name = String.UnicodeScalarView()
        while let scalar = peek, scalar == "$" || scalar.properties.isIDContinue {
            name.append(scalar)
            _ = next()
        }
        return String(name)
    }

    mutating func string() throws(JSON5Error) -> String {
        let start = line
        let quote = next()
        var out = String.UnicodeScalarView()
        while let scalar = next() {
            switch scalar {
            case quote: return String(out)
            case "\\": if let escaped = try escape() { out.append(escaped) }
            case "\n", "\r": throw JSON5Error(line: start, reason: "this text has no closing quote on its line")
            default: out.append(scalar)
            }
        }
        throw JSON5Error(line: start, reason: "this text has no closing quote")
    }

    /// What stands after a backslash; nil where it only breaks the line.
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
            // The second half of a pair outside the basic plane.
            guard next() == "\\", next() == "u" else { throw error("half a surrogate pair") }
            let low = try hexadecimal(4)
            guard (0xDC00..<0xE000).contains(low) else { throw error("half a surrogate pair") }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw error("half a surrogate pair") }
        return scalar
    }

    private mutating func hexadecimal(_ digits: Int) throws(JSON5Error) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<digits {
            guard let scalar = next(), let digit = Character(scalar).hexDigitValue else {
                throw error("\(digits) hexadecimal digits were expected")
            }
            code = code << 4 | UInt32(digit)
        }
        return code
    }

    mutating func number() throws(JSON5Error) -> Double {
        var word = ""
        while let scalar = peek,
            scalar.properties.isIDContinue || scalar == "." || scalar == "+" || scalar == "-"
        {
            word.unicodeScalars.append(scalar)
            _ = next()
        }
        if let number = Self.number(word) { return number }
        throw error("'\(word)' is no number; text needs quotes")
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
            let digits = digits.dropFirst(2)
            value = digits.allSatisfy(\.isHexDigit) ? UInt64(digits, radix: 16).map { Double($0) } : nil
        } else if digits.allSatisfy({ $0.isASCII && ($0.isNumber || ".eE+-".contains($0)) }),
            digits.first != "+", digits.first != "-",
            !(digits.hasPrefix("0") && digits.dropFirst().first?.isNumber == true)
        {
            // Swift's own reading takes neither ".5" nor "5.".
            let parts = digits.split(omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
            guard let mantissa = parts.first, mantissa.contains(where: \.isNumber), parts.count <= 2 else { return nil }
            let whole = "0" + mantissa + (mantissa.hasSuffix(".") ? "0" : "")
            value = Double(parts.count == 2 ? "\(whole)e\(parts[1])" : whole)
        }
        return value.map { isNegative ? -$0 : $0 }
    }
}
