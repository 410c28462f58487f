private import Core
private import System

extension Device.Holder {
    /// The program that has a card's capture device open, read from `/proc`; nil if that is unknown.
    ///
    /// - Parameters:
    ///   - card: The card's number.
    ///   - device: The device's number on the card.
    ///   - root: Where the process file system is mounted.
    init?(card: Int, device: Int, root: String = "/proc") {
        let folder = "\(root)/asound/card\(card)/pcm\(device)c"
        let names = namesInFolder(folder)
        for name in names.sorted() where name.hasPrefix("sub") {
            guard let task = Self.field("owner_pid", of: "\(folder)/\(name)/status").flatMap({ Int(digits: $0) }) else {
                continue
            }
            // `owner_pid` is a thread; the user knows the name of its process.
            let process = Self.field("Tgid", of: "\(root)/\(task)/status").flatMap { Int(digits: $0) } ?? task
            guard let program = kernelText("\(root)/\(process)/comm") else { continue }
            self.init(process: process, name: String(program.prefix { !$0.isNewline }))
            return
        }
        return nil
    }

    /// The value in a line `key: value`; spaces before the colon are allowed.
    private static func field(_ key: Substring, of path: String) -> Substring? {
        for line in kernelText(path)?.split(whereSeparator: \.isNewline) ?? [] {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.split(whereSeparator: \.isWhitespace) }
            if parts.count == 2, parts[0] == [key] { return parts[1].first }
        }
        return nil
    }

}
