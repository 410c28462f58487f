private import Core
private import Glibc
private import Network

/// Leaves out what tells who and where somebody is: names of users and machines, what is in homes, addresses, secrets, and names that the
/// user gave.
struct Redaction {
    /// A name, and what stands in its place; the longest first, so that none is cut.
    private let names: [(name: [UInt8], place: String)]
    /// Characters from which a mixture of letters and digits may be a key or a serial number.
    private static let shortestKey = 16

    /// - Parameters:
    ///   - homes: folders.
    ///   - users, machines: names; those of the system itself, such as root, stay.
    ///   - secrets: texts that the user wrote, such as passwords, hosts and words.
    init(homes: [String], users: [String], machines: [String], secrets: [String]) {
        let known: Set = ["root", "localhost", "beckon", "_beckon"]
        let all =
            homes.filter { $0.count > 1 && $0 != "/nonexistent" }.map { ($0, "~") } + users.map { ($0, "USER") }
            + machines.flatMap { [$0, String($0.prefix { $0 != "." })] }.map { ($0, "MACHINE") }
            + secrets.map { ($0, "…") }
        names = all.filter { $0.0.utf8.count > 1 && !known.contains($0.0) }.map { (Array($0.0.utf8), $0.1) }
            .sorted { $0.name.count > $1.name.count }
    }

    /// A text without what is known, and without what looks like a path in a home, an address or a key.
    func callAsFunction(_ text: String) -> String {
        let named = String(decoding: replacingNames(in: Array(text.utf8)), as: UTF8.self)
        var (result, token) = ("", "")
        for character in named {
            if character.isWhitespace || "\"'“”‘’()[]{},;<>|=".contains(character) {
                result += Self.redacted(token) + String(character)
                token = ""
            } else {
                token.append(character)
            }
        }
        return result + Self.redacted(token)
    }

    private func replacingNames(in text: [UInt8]) -> [UInt8] {
        var (result, place): ([UInt8], Int) = ([], 0)
        func isLetter(_ index: Int) -> Bool {
            guard text.indices.contains(index) else { return false }
            let byte = text[index]
            return byte >= 0x80 || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
        }
        while place < text.count {
            let found = names.first { name, _ in
                text[place...].starts(with: name)
                    && !(isLetter(place - 1) && isLetter(place))
                    && !(isLetter(place + name.count - 1) && isLetter(place + name.count))
            }
            guard let found else {
                result.append(text[place])
                place += 1
                continue
            }
            result += Array(found.place.utf8)
            place += found.name.count
        }
        return result
    }

    /// A word between blanks and marks.
    private static func redacted(_ token: String) -> String {
        let mark = token.last.map { ":.…!?".contains($0) } == true ? String(token.suffix(1)) : ""
        let word = mark.isEmpty ? token : String(token.dropLast())
        for home in ["~/", "/root/"] where word.hasPrefix(home) { return "~/…" + mark }
        for folder in ["/home/", "/media/", "/mnt/", "/run/media/", "/srv/", "/Users/"] where word.hasPrefix(folder) {
            return folder + "…" + mark
        }
        if let scheme = word.split(separator: "/", maxSplits: 1).first, scheme.count > 1, scheme.last == ":",
            word.dropFirst(scheme.count).hasPrefix("//")
        {
            return scheme + "//…" + mark
        }
        if let at = word.firstIndex(of: "@"), at != word.startIndex, word.index(after: at) < word.endIndex,
            word[at...].contains(".")
        {
            return "…@…" + mark
        }
        let host = word.prefix { $0 != "/" }
        let isNumeric = host.utf8.count > 3 && host.allSatisfy { $0.isHexDigit || $0 == "." || $0 == ":" }
        let colons = host.count { $0 == ":" }
        // Not a time of day.
        let isLong = colons >= 5 || colons >= 2 && (host.contains("::") || host.contains(where: \.isLetter))
        if isNumeric, isLong || IPAddress(host.prefix { $0 != ":" }) != nil { return "ADDRESS" + mark }
        return word.split(separator: "/", omittingEmptySubsequences: false).map { part in
            part.split(separator: ".", omittingEmptySubsequences: false).map { String(isKey($0) ? "…" : $0) }
                .joined(separator: ".")
        }.joined(separator: "/") + mark
    }

    /// Whether a text has so many letters and digits between each other as no name has.
    private static func isKey(_ text: Substring) -> Bool {
        let parts = text.split { "-_:".contains($0) }
        return parts.contains { part in
            part.utf8.count >= shortestKey && part.contains(where: \.isNumber) && part.contains(where: \.isLetter)
        } || text.utf8.count >= 2 * shortestKey && text.count(where: \.isNumber) >= 6
    }

    /// The texts between quotation marks in a configuration, but for words of its own.
    static func texts(in configuration: String) -> [String] {
        var (texts, current, mark): ([String], String, Character?) = ([], "", nil)
        for character in configuration {
            if character == mark || character.isNewline {
                if mark != nil { texts.append(current) }
                mark = nil
            } else if mark != nil {
                current.append(character)
            } else if character == "\"" || character == "'" {
                (mark, current) = (character, "")
            }
        }
        let own: Set = ["auto", "default", "mix", "spot", "command", "early", "end", "strict", "balanced", "eager"]
        let isDevice = { (text: String) in
            ["hw:", "plughw:", "dsnoop:", "pipewire", "pulse", "sysdefault"].contains { text.hasPrefix($0) }
        }
        return texts.filter { !own.contains($0) && !isDevice($0) }
    }
}
