import Glibc
import System
import TestSupport
import Testing

@testable import Web

/// The token's file.
struct WebTokenTests {
    @Test func `it is made once, random, for its owner alone, and renewed when asked`() throws {
        let folder = try TestFolder()
        let place = folder.file("state/beckon")
        #expect(try WebToken.read(in: place) == nil)
        let token = try WebToken.obtain(in: place)
        #expect(token.count == 64 && token.allSatisfy(\.isHexDigit))
        #expect(try FileStatus(path: WebToken.path(in: place)).permissions == 0o600)
        #expect(try WebToken.obtain(in: place) == token)
        let renewed = try WebToken.obtain(in: place, renews: true)
        #expect(renewed != token)
        #expect(try WebToken.read(in: place) == renewed)
        #expect(try FileStatus(path: WebToken.path(in: place)).permissions == 0o600)
        #expect(try WebToken.obtain(in: folder.file("other")) != token)
    }

    @Test func `a file that others can read, or without a token, is refused`() throws {
        let folder = try TestFolder()
        let token = try WebToken.obtain(in: folder.path)
        let path = WebToken.path(in: folder.path)
        for mode in [0o640, 0o604, 0o660] as [mode_t] {
            chmod(path, mode)
            #expect(throws: SecretFileError.self) { try WebToken.read(in: folder.path) }
        }
        chmod(path, 0o600)
        #expect(try WebToken.read(in: folder.path) == token)
        for text in ["", "\n", String(token.dropLast()), token + "0", String(repeating: "g", count: 64)] {
            try folder.write("web.token", bytes: Array(text.utf8))
            chmod(path, 0o600)
            #expect(throws: SecretFileError.self, "\(text)") { try WebToken.read(in: folder.path) }
        }
        #expect(try WebToken.obtain(in: folder.path, renews: true).count == 64)
    }

    @Test func `only the same text is equal`() {
        let token = String(repeating: "0f", count: 32)
        #expect(WebToken.isEqual(token, token))
        for text in [
            "", "0f", token + "0", token.uppercased(), String(token.dropLast()) + "e", "1" + token.dropFirst(),
        ] {
            #expect(!WebToken.isEqual(text, token), "\(text)")
        }
        #expect(!WebToken.isEqual("", ""))
    }
}
