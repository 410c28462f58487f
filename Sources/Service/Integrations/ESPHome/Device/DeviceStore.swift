import Core
import Glibc
import JSON
import System

/// The key of encrypted connections: 32 bytes, as base64 in a file that only its owner, and root, can read. The user gives it to Home
/// Assistant.
public enum APIKey {
    private static let file = "esphome.key"

    /// The file of a state folder.
    public static func path(in folder: String) -> String { folder + "/" + file }

    /// The key of a folder, which is made where there is none.
    ///
    /// - Parameter renews: whether to replace one that is there.
    /// - Throws: ``APIKeyError`` if the file is not as it was made, or cannot be made.
    public static func obtain(in folder: String, renews: Bool = false) throws(APIKeyError) -> String {
        if !renews, let key = try read(in: folder) { return key }
        StateFolder.make(folder)
        // The system's generator (getrandom).
        var generator = SystemRandomNumberGenerator()
        let key = base64((0..<Sodium.keySize).map { _ in UInt8.random(in: 0...255, using: &generator) })
        do throws(SystemError) {
            // Durable: Home Assistant keeps it. Root makes it for the service, whose folder it is.
            try replaceFile(
                path(in: folder),
                mode: 0o600,
                durable: true,
                isForFolderOwner: true,
                Array((key + "\n").utf8)
            )
        } catch {
            throw APIKeyError("\(path(in: folder)): \(error)")
        }
        return key
    }

    /// The key of a folder; nil if there is none.
    static func read(in folder: String) throws(APIKeyError) -> String? {
        let path = path(in: folder)
        let content: FileContents
        do throws(ReadFileError) {
            content = try readFile(path, limit: 1024)
        } catch {
            if case .system(SystemError("open", ENOENT)) = error { return nil }
            throw APIKeyError("\(path): \(error); beckon esphome key --new makes another")
        }
        guard content.status.permissions & 0o077 == 0 else {
            throw APIKeyError("\(path): other users can read it; beckon esphome key --new makes another")
        }
        let key = firstLine(of: String(decoding: content.bytes, as: UTF8.self))
        guard bytes(base64: key)?.count == Sodium.keySize else {
            throw APIKeyError("\(path): holds no key; beckon esphome key --new makes another")
        }
        return key
    }
}

/// What is wrong with the key's file.
public struct APIKeyError: Error, Equatable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// What the satellite keeps over restarts, in a file of the state folder. A pure value.
struct DeviceStore: Equatable {
    private static let file = "esphome.json"
    private static let limit = 64 << 10

    /// In the form of an Ethernet address, made at random once: Home Assistant recognises the device by it. That of a network card
    /// would make it one with other devices of the machine.
    var address: String
    /// The words that start a command, as Home Assistant has chosen; nil if it has not.
    var active: [String]?
    /// 0…1.
    var volume: Float = 1

    /// What a folder has; new where it has nothing that can be read.
    init(in folder: String?) {
        var generator = SystemRandomNumberGenerator()
        // Locally administered, of one device.
        let bytes = [0x02] + (0..<5).map { _ in UInt8.random(in: 0...255, using: &generator) }
        address = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
        guard let folder, let content = try? readFile(folder + "/" + Self.file, limit: Self.limit),
            let node = try? JSONNode.parse(String(decoding: content.bytes, as: UTF8.self), .json5)
        else { return }
        if let text = node["address"]?.text, Self.isAddress(text) { address = text }
        if let words = node["active"], case .array(let elements) = words.value { active = elements.compactMap(\.text) }
        if let number = node["volume"]?.number { volume = Float(min(max(number, 0), 1)) }
    }

    private static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 6
            && parts.allSatisfy { $0.utf8.count == 2 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }

    func write(to folder: String) throws(SystemError) {
        StateFolder.make(folder)
        let json: JSON = [
            "address": .string(address), "active": active.map { .strings($0) } ?? .null,
            "volume": .number(volume, places: 3),
        ]
        try replaceFile(folder + "/" + Self.file, mode: 0o600, durable: false, Array(json.line.utf8))
    }
}
