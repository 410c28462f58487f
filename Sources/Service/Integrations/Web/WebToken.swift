public import System

/// The secret that changes and sound need: 64 hexadecimal digits in a file that only its owner, and root, can read.
public enum WebToken {
    /// The header that carries it. A browser sends a header of this kind to another site only where that site has agreed.
    public static let header = "X-Beckon-Token"

    private static let bytes = 32
    private static let file = SecretFile("web.token", title: "token", remedy: "beckon web token --new") {
        $0.utf8.count == bytes * 2 && $0.allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    /// The file of a state folder.
    public static func path(in folder: String) -> String { file.path(in: folder) }

    /// The token of a folder, which is made where there is none.
    ///
    /// - Parameter renews: whether to replace one that is there.
    public static func obtain(in folder: String, renews: Bool = false) throws(SecretFileError) -> String {
        try file.obtain(in: folder, renews: renews) { random(bytes: bytes) }
    }

    /// The token of a folder; nil if there is none.
    public static func read(in folder: String) throws(SecretFileError) -> String? { try file.read(in: folder) }

    /// Whether a text is the token. Takes as long for any text of the right length, so that the time tells nothing.
    public static func isEqual(_ text: String, _ token: String) -> Bool {
        let (left, right) = (Array(text.utf8), Array(token.utf8))
        guard left.count == right.count, !left.isEmpty else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }

    /// A random text of hexadecimal digits.
    static func random(bytes: Int) -> String {
        // The system's generator (getrandom).
        var generator = SystemRandomNumberGenerator()
        return (0..<bytes).map { _ in
            let byte = UInt8.random(in: 0...255, using: &generator)
            return (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
