/// Reads JSON text from memory, value by value, without building a tree: the headers of audio come hundreds of times a second
/// from each client.
///
/// All of the text is checked, also what is skipped; only the bytes of skipped strings need not be UTF-8. No text can make it read
/// outside its memory or recurse deeply.
struct JSONScanner {
    /// The text is not JSON.
    struct Failure: Error, Equatable, CustomStringConvertible {
        /// Offset in bytes.
        let place: Int
        var description: String { "not JSON, from byte \(place) on" }
    }

    /// Objects and lists within each other.
    private static let deepest = 32

    private let bytes: UnsafeBufferPointer<UInt8>
    private var place = 0
    private var depth = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Reads an object, which must be all that is left of the text but blanks.
    ///
    /// - Parameter member: reads the member's value, all of it; its name is as it stands in the text, escapes included.
    mutating func wholeObject(
        _ member: (inout JSONScanner, _ name: UnsafeBufferPointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        try object(member)
        skipBlanks()
        guard place == bytes.count else { throw failure }
    }

    /// Reads an object.
    mutating func object(
        _ member: (inout JSONScanner, _ name: UnsafeBufferPointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        try list(from: "{", to: "}") { scanner throws(Failure) in
            let name = try scanner.rawString()
            try scanner.expect(":")
            try member(&scanner, name)
        }
    }

    /// Whether the next value begins with this character.
    mutating func isNext(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        return next.map { $0 == UInt8(ascii: character) } ?? false
    }

    /// Reads any value; returns it if it is a whole number, or a fraction, which is cut off.
    mutating func integer() throws(Failure) -> Int? {
        skipBlanks()
        guard let first = next, first == UInt8(ascii: "-") || Self.isDigit(first) else {
            try skip()
            return nil
        }
        return try number()
    }

    /// Reads any value; returns it if it is a string of UTF-8.
    mutating func string() throws(Failure) -> String? {
        guard isNext("\"") else {
            try skip()
            return nil
        }
        return Self.decode(try rawString())
    }

    /// Reads any value; returns its text if it is an object in UTF-8 of at most this many bytes.
    mutating func objectText(most: Int) throws(Failure) -> String? {
        let isObject = isNext("{")
        let start = place
        try skip()
        guard isObject, place - start <= most else { return nil }
        return String(validating: UnsafeBufferPointer(rebasing: bytes[start..<place]), as: UTF8.self)
    }

    /// Reads any value; returns it if it is a list, with those of its elements that are strings of UTF-8.
    mutating func strings() throws(Failure) -> [String]? {
        guard isNext("[") else {
            try skip()
            return nil
        }
        var strings: [String] = []
        try list(from: "[", to: "]") { scanner throws(Failure) in
            if let string = try scanner.string() { strings.append(string) }
        }
        return strings
    }

    /// Reads any value.
    mutating func skip() throws(Failure) {
        skipBlanks()
        switch next {
        case UInt8(ascii: "\""): _ = try rawString()
        case UInt8(ascii: "{"): try object { scanner, _ throws(Failure) in try scanner.skip() }
        case UInt8(ascii: "["): try list(from: "[", to: "]") { scanner throws(Failure) in try scanner.skip() }
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        default: _ = try number()
        }
    }

    // MARK: - Parts

    private var failure: Failure { Failure(place: place) }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { place += 1 }
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(Failure) {
        guard isNext(character) else { throw failure }
        place += 1
    }

    private mutating func list(
        from first: Unicode.Scalar,
        to last: Unicode.Scalar,
        _ element: (inout JSONScanner) throws(Failure) -> Void
    ) throws(Failure) {
        try expect(first)
        depth += 1
        guard depth <= Self.deepest else { throw failure }
        if !isNext(last) {
            try element(&self)
            while isNext(",") {
                place += 1
                try element(&self)
            }
        }
        try expect(last)
        depth -= 1
    }

    private mutating func literal(_ text: StaticString) throws(Failure) {
        for index in 0..<text.utf8CodeUnitCount {
            guard next == text.utf8Start[index] else { throw failure }
            place += 1
        }
    }

    /// Reads a string; returns what stands between its quotes.
    private mutating func rawString() throws(Failure) -> UnsafeBufferPointer<UInt8> {
        try expect("\"")
        let start = place
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                place += 1
                return UnsafeBufferPointer(rebasing: bytes[start..<place - 1])
            case UInt8(ascii: "\\"): try escape()
            case 0..<0x20: throw failure
            default: place += 1
            }
        }
        throw failure
    }

    private mutating func escape() throws(Failure) {
        place += 1
        guard let byte = next else { throw failure }
        place += 1
        switch byte {
        case UInt8(ascii: "u"):
            for _ in 0..<4 {
                guard let digit = next, Self.hexadecimal(digit) != nil else { throw failure }
                place += 1
            }
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            break
        default: throw failure
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt16? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// The text of a string whose escapes are right; nil if it is not UTF-8, or has half of a surrogate pair.
    private static func decode(_ raw: UnsafeBufferPointer<UInt8>) -> String? {
        guard raw.contains(UInt8(ascii: "\\")) else { return String(validating: raw, as: UTF8.self) }
        var units: [UInt16] = []
        guard let text = String(validating: raw, as: UTF8.self) else { return nil }
        var rest = text.utf16[...]
        while let unit = rest.popFirst() {
            guard unit == 0x5C, let escaped = rest.popFirst() else {
                units.append(unit)
                continue
            }
            switch UInt8(truncatingIfNeeded: escaped) {
            case UInt8(ascii: "u"):
                let digits = rest.prefix(4).compactMap { hexadecimal(UInt8(truncatingIfNeeded: $0)) }
                units.append(digits.reduce(0) { $0 << 4 | $1 })
                rest = rest.dropFirst(4)
            case UInt8(ascii: "b"): units.append(0x08)
            case UInt8(ascii: "f"): units.append(0x0C)
            case UInt8(ascii: "n"): units.append(0x0A)
            case UInt8(ascii: "r"): units.append(0x0D)
            case UInt8(ascii: "t"): units.append(0x09)
            default: units.append(escaped)
            }
        }
        return String(validating: units, as: UTF16.self)
    }

    /// Reads a number; returns its whole part, or nil if that does not fit.
    private mutating func number() throws(Failure) -> Int? {
        let isNegative = next == UInt8(ascii: "-")
        if isNegative { place += 1 }
        var value = 0
        var fits = true
        let start = place
        while let byte = next, Self.isDigit(byte) {
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeSum) = product.addingReportingOverflow(Int(byte - UInt8(ascii: "0")))
            fits = fits && !isTooLarge && !isTooLargeSum
            value = sum
            place += 1
        }
        guard place > start, place == start + 1 || bytes[start] != UInt8(ascii: "0") else { throw failure }
        if next == UInt8(ascii: ".") {
            place += 1
            try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            // No number of this protocol needs an exponent.
            fits = false
            place += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { place += 1 }
            try digits()
        }
        return fits ? (isNegative ? -value : value) : nil
    }

    private mutating func digits() throws(Failure) {
        let start = place
        while let byte = next, Self.isDigit(byte) { place += 1 }
        guard place > start else { throw failure }
    }
}
