private import Core
import Glibc
import System

/// The secret that changes and sound need: 64 hexadecimal digits in a file that only its owner, and root, can read.
public enum WebToken {
    /// The header that carries it. A browser sends a header of this kind to another site only where that site has agreed.
    public static let header = "X-Beckon-Token"

    private static let bytes = 32
    private static let file = "web.token"

    /// The file of a state folder.
    public static func path(in folder: String) -> String { folder + "/" + file }

    /// The token of a folder, which is made where there is none.
    ///
    /// - Parameter renews: whether to replace one that is there.
    /// - Throws: ``WebTokenError`` if the file is not as it was made, or cannot be made.
    public static func obtain(in folder: String, renews: Bool = false) throws(WebTokenError) -> String {
        if !renews, let token = try read(in: folder) { return token }
        StateFolder.make(folder)
        let token = random(bytes: bytes)
        do throws(SystemError) {
            // Durable: pages and scripts keep it. Root makes it for the service, whose folder it is.
            try replaceFile(
                path(in: folder),
                mode: 0o600,
                durable: true,
                isForFolderOwner: true,
                Array((token + "\n").utf8)
            )
        } catch {
            throw WebTokenError("\(path(in: folder)): \(error)")
        }
        return token
    }

    /// The token of a folder; nil if there is none.
    ///
    /// - Throws: ``WebTokenError`` if others can read it, or it is none.
    public static func read(in folder: String) throws(WebTokenError) -> String? {
        let path = path(in: folder)
        let content: FileContents
        do throws(ReadFileError) {
            content = try readFile(path, limit: 1024)
        } catch {
            if case .system(SystemError("open", ENOENT)) = error { return nil }
            throw WebTokenError("\(path): \(error); beckon web token --new makes another")
        }
        guard content.status.permissions & 0o077 == 0 else {
            throw WebTokenError("\(path): other users can read it; beckon web token --new makes another")
        }
        let token = firstLine(of: String(decoding: content.bytes, as: UTF8.self))
        guard token.utf8.count == Self.bytes * 2, token.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw WebTokenError("\(path): holds no token; beckon web token --new makes another")
        }
        return token
    }

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

/// What is wrong with the token's file.
public struct WebTokenError: Error, Equatable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
