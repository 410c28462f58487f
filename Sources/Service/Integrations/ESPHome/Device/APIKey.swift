import Core
public import System

/// The key of encrypted connections: 32 bytes, as base64 in a file that only its owner, and root, can read. The user gives it to Home
/// Assistant.
public enum APIKey {
    private static let file = SecretFile("esphome.key", title: "key", remedy: "beckon esphome key --new") {
        bytes(base64: $0)?.count == Sodium.keySize
    }

    /// The key of a folder, which is made where there is none.
    ///
    /// - Parameter renews: whether to replace one that is there.
    public static func obtain(in folder: String, renews: Bool = false) throws(SecretFileError) -> String {
        try file.obtain(in: folder, renews: renews) {
            // The system's generator (getrandom).
            var generator = SystemRandomNumberGenerator()
            return base64((0..<Sodium.keySize).map { _ in UInt8.random(in: 0...255, using: &generator) })
        }
    }
}
