/// Numbers from text that comes from outside: a command line, a configuration, a header, a file, a message.
///
/// The standard library's own initialisers also accept `+4`, `0x1p3`, `nan` and `inf`, which are not numbers to any peer or person: a
/// host `1.2.3.+4` would count as an address. These accept ASCII digits alone, and nothing before or after them.
extension FixedWidthInteger {
    /// A whole number without a sign: ASCII digits alone.
    ///
    /// Nothing where the text is empty, has any other character, or the number does not fit.
    public init?(digits text: some StringProtocol) { self.init(digits: text.utf8) }

    /// A whole number without a sign, from ASCII bytes: see ``init(digits:)``.
    public init?(digits bytes: some Sequence<UInt8>) { self.init(bytes, radix: 10) }

    /// A whole number that may be negative: `-` at most, then ASCII digits alone.
    ///
    /// Nothing where the text is anything else, or the number does not fit.
    public init?(signedDigits text: some StringProtocol) {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        self.init(text.utf8.dropFirst(isNegative ? 1 : 0), radix: 10, isNegative: isNegative)
    }

    /// A whole number in hexadecimal digits of either case, without a prefix or a sign.
    ///
    /// Nothing where the text is empty, has any other character, or the number does not fit.
    public init?(hexDigits text: some StringProtocol) { self.init(hexDigits: text.utf8) }

    /// A whole number in hexadecimal digits, from ASCII bytes: see ``init(hexDigits:)``.
    public init?(hexDigits bytes: some Sequence<UInt8>) { self.init(bytes, radix: 16) }

    private init?(_ bytes: some Sequence<UInt8>, radix: Self, isNegative: Bool = false) {
        var value: Self?
        for byte in bytes {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f") where radix == 16: digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F") where radix == 16: digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            let (scaled, overflow) = (value ?? 0).multipliedReportingOverflow(by: radix)
            // Downwards, because the lowest number has no positive counterpart.
            let (next, carry) =
                isNegative
                ? scaled.subtractingReportingOverflow(Self(digit)) : scaled.addingReportingOverflow(Self(digit))
            guard !overflow, !carry else { return nil }
            value = next
        }
        guard let value else { return nil }
        self = value
    }
}

extension BinaryFloatingPoint where Self: LosslessStringConvertible {
    /// A decimal number: `-` at most, digits, and where wanted a point with digits and an exponent: `12`, `-0.5`, `.5`, `1e-05`.
    ///
    /// Nothing where the text is anything else (`+1`, `5.`, `0x10`, `nan`, `inf`), or the number is too large to be finite.
    public init?(decimal text: some StringProtocol) {
        guard isDecimal(text.utf8), let value = Self(String(text)), value.isFinite else { return nil }
        self = value
    }
}

/// Whether these bytes are a decimal number as ``Swift/BinaryFloatingPoint/init(decimal:)`` takes it.
private func isDecimal(_ bytes: some Collection<UInt8>) -> Bool {
    var rest = bytes[...]
    func skip(_ accepted: UInt8...) {
        if let first = rest.first, accepted.contains(first) { rest.removeFirst() }
    }
    func skipDigits() -> Bool {
        let count = rest.count
        rest = rest.drop { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return rest.count < count
    }
    skip(UInt8(ascii: "-"))
    guard skipDigits() || rest.first == UInt8(ascii: ".") else { return false }
    if rest.first == UInt8(ascii: ".") {
        rest.removeFirst()
        guard skipDigits() else { return false }
    }
    if let first = rest.first, first == UInt8(ascii: "e") || first == UInt8(ascii: "E") {
        rest.removeFirst()
        skip(UInt8(ascii: "+"), UInt8(ascii: "-"))
        guard skipDigits() else { return false }
    }
    return rest.isEmpty
}
