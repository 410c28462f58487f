/// The name of a file as text, even if it is not UTF-8: Linux allows any bytes in a name but NUL and `/`.
///
/// A byte b that is not part of UTF-8 is kept as the scalar U+10FF00 + b, which is reserved for private use, so that the file can
/// be opened by its bytes again. ``printable(_:)`` and ``shown(_:)`` replace these scalars.
public enum FileName {
    private static let firstScalar: UInt32 = 0x10FF00
    private static let scalars: ClosedRange<UInt32> = 0x10FF80...0x10FFFF

    /// Whether a scalar stands for a byte that is not UTF-8.
    static func isRawByte(_ scalar: Unicode.Scalar) -> Bool { scalars.contains(scalar.value) }

    /// Whether the text stands for bytes that are not UTF-8.
    public static func isRaw(_ text: String) -> Bool {
        // Only scalars from U+100000 on begin with this byte.
        text.utf8.contains(0xF4) && text.unicodeScalars.contains(where: isRawByte)
    }

    /// The text for a name's bytes.
    public static func text(_ bytes: some Collection<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !isRaw(text) { return text }
        var scalars = String.UnicodeScalarView()
        var rest = Array(bytes)[...]
        while let first = rest.first {
            if let (scalar, length) = scalar(at: rest), !isRawByte(scalar) {
                scalars.append(scalar)
                rest = rest.dropFirst(length)
            } else {
                scalars.append(Unicode.Scalar(firstScalar + UInt32(first)) ?? "\u{FFFD}")
                rest = rest.dropFirst()
            }
        }
        return String(scalars)
    }

    /// The scalar at the beginning of bytes, and its length in bytes; nil if they do not begin with UTF-8.
    private static func scalar(at bytes: ArraySlice<UInt8>) -> (Unicode.Scalar, Int)? {
        for length in 1...4 where length <= bytes.count {
            if let text = String(validating: bytes.prefix(length), as: UTF8.self),
                let scalar = text.unicodeScalars.first
            {
                return (scalar, length)
            }
        }
        return nil
    }

    /// The bytes of a name, the inverse of ``text(_:)``.
    public static func bytes(_ text: String) -> [UInt8] {
        guard isRaw(text) else { return Array(text.utf8) }
        return text.unicodeScalars.flatMap { scalar in
            isRawByte(scalar) ? [UInt8(truncatingIfNeeded: scalar.value)] : Array(String(scalar).utf8)
        }
    }

    /// The name as a C string for system calls. It must not contain NUL.
    public static func cString(_ text: String) -> [CChar] { bytes(text).map(CChar.init(bitPattern:)) + [0] }

    /// The name as text for people and other programs: U+FFFD in place of each byte that is not UTF-8.
    public static func shown(_ text: String) -> String {
        guard isRaw(text) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { shown.append(isRawByte(scalar) ? "\u{FFFD}" : scalar) }
        return String(shown)
    }
}
