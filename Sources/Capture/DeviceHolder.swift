import Foundation

extension Device.Holder {
    /// Who has a card's capture device open, as far as `/proc` tells.
    ///
    /// - Parameter root: Where the process file system is mounted.
    init?(card: Int, device: Int, root: String = "/proc") {
        let folder = "\(root)/asound/card\(card)/pcm\(device)c"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names.sorted() where name.hasPrefix("sub") {
            guard let task = Self.field("owner_pid", of: "\(folder)/\(name)/status").flatMap({ Int($0) }) else {
                continue
            }
            // The owner is the thread that opened it; its process has the name that a user knows.
            let process = Self.field("Tgid", of: "\(root)/\(task)/status").flatMap { Int($0) } ?? task
            guard let program = Self.text(of: "\(root)/\(process)/comm") else { continue }
            self.init(process: process, name: program.trimmingCharacters(in: .whitespacesAndNewlines))
            return
        }
        return nil
    }

    /// The value in a line `key: value`.
    private static func field(_ key: String, of path: String) -> Substring? {
        text(of: path)?.split(separator: "\n").lazy
            .map { $0.split(separator: ":", maxSplits: 1) }
            .first { $0.count == 2 && $0[0].trimmingCharacters(in: .whitespaces) == key }?[1]
            .drop { $0 == " " || $0 == "\t" }
    }

    private static func text(of path: String) -> String? {
        // Files of /proc say that they are empty: they are read to their end.
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.readToEnd() else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
