import JSON
import System

/// What clients of the wake-word server are called by hand, in a file of the state folder.
enum ClientNames {
    private static let file = "clients.json"
    private static let limit = 64 << 10

    /// The names of a folder, by what the clients are told by; none where there is nothing that can be read.
    static func read(in folder: String?) -> [String: String] {
        guard let folder, let content = try? readFile(folder + "/" + file, limit: limit),
            let node = try? JSONNode.parse(String(decoding: content.bytes, as: UTF8.self), .json5)
        else { return [:] }
        return node.members.reduce(into: [:]) { names, member in
            if let name = member.node.text { names[member.name] = name }
        }
    }

    static func write(_ names: [String: String], to folder: String) throws(SystemError) {
        StateFolder.make(folder)
        let json = JSON.object(names.sorted { $0.key < $1.key }.map { JSON.Member($0.key, .string($0.value)) })
        try replaceFile(folder + "/" + file, mode: 0o600, durable: false, isForFolderOwner: true, Array(json.line.utf8))
    }
}
