private import Configuration
public import Core

/// A command to the running daemon.
public enum ControlCommand: Equatable, Sendable {
    case status, mute, unmute, reload
    /// Streams all events from now on to the client that asks.
    case events
    /// Sets thresholds of words. Each lasts until it is set again or the word's configured threshold changes.
    case set([WordThreshold])

    /// Parses a line: words such as `mute` or `set yes=0.7 no=0.8`, or JSON such as
    /// `{"command": "set", "words": {"yes": 0.7}}`.
    ///
    /// - Throws: ``ControlError/command``.
    public init(line: String) throws(ControlError) {
        let parts = line.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let name = parts.first else { throw .command.saying("an empty command; there are \(Self.names)") }
        if name.hasPrefix("{") {
            self = try Self.fromJSON(line)
        } else {
            self = try Self.named(
                name,
                words: Self.assignments(parts.dropFirst()).map { part throws(ControlError) in
                    try WordThreshold(part)
                }
            )
        }
    }

    /// The command as a line of JSON.
    public var json: JSON {
        guard case .set(let words) = self else { return ["command": .string(name)] }
        let members = words.map { JSON.Member($0.word, .shortest($0.threshold)) }
        return ["command": "set", "words": .object(members)]
    }

    private static let simple: [(name: String, command: ControlCommand)] = [
        ("status", .status), ("mute", .mute), ("unmute", .unmute), ("reload", .reload), ("events", .events),
    ]
    private static let names = (simple.map(\.name) + ["set"]).joined(separator: ", ")

    private var name: String { Self.simple.first { $0.command == self }?.name ?? "set" }

    /// Joins the parts of a line up to each `=`, because the name of a taught word may contain blanks.
    private static func assignments(_ parts: ArraySlice<String>) -> [String] {
        var (whole, open): ([String], [String]) = ([], [])
        for part in parts {
            open.append(part)
            guard part.contains("=") else { continue }
            whole.append(open.joined(separator: " "))
            open = []
        }
        return whole + open
    }

    private static func named(_ name: String, words: [WordThreshold]) throws(ControlError) -> ControlCommand {
        if name == "set" {
            guard !words.isEmpty else { throw .command.saying("set needs a word and its threshold, such as yes=0.7") }
            return .set(words)
        }
        guard let command = simple.first(where: { $0.name == name })?.command else {
            let hint = nearestName(to: name, of: simple.map(\.name) + ["set"]).map { "did you mean \($0)?" }
            throw .command.saying("unknown command '\(name.prefix(40))'; \(hint ?? "there are \(names)")")
        }
        guard words.isEmpty else { throw .command.saying("\(name) takes nothing after it") }
        return command
    }

    private static func fromJSON(_ line: String) throws(ControlError) -> ControlCommand {
        let node: JSON5Node
        do throws(JSON5Error) {
            node = try JSON5Parser.parse(line)
        } catch {
            throw .command.saying("not a JSON object: \(error.reason)")
        }
        guard case .object(let members) = node.value else { throw .command.saying("not a JSON object") }
        var name: String?
        var words: [WordThreshold] = []
        for member in members {
            switch (member.name, member.node.value) {
            case ("command", .string(let text)): name = text
            case ("words", .object(let entries)):
                for entry in entries {
                    guard case .number(let number) = entry.node.value else {
                        throw .command.saying(
                            "the threshold of '\(entry.name)' is \(entry.node.description), not a number"
                        )
                    }
                    words.append(try WordThreshold(word: entry.name, number: number))
                }
            default:
                throw .command.saying(
                    "unknown or ill-typed key '\(member.name.prefix(40))'; there are command and words"
                )
            }
        }
        guard let name else { throw .command.saying("the key command is missing; there are \(names)") }
        return try named(name, words: words)
    }
}

/// A word's new threshold, written as `yes=0.7`.
public struct WordThreshold: Equatable, Sendable {
    /// The name of the word.
    public let word: String
    /// Between 0 and 1, both excluded.
    public let threshold: Float

    /// Parses `WORD=THRESHOLD`.
    ///
    /// - Throws: ``ControlError/command``.
    public init(_ text: String) throws(ControlError) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let number = Double(parts[1]) else {
            throw .command.saying("'\(text.prefix(40))' is not a word and its threshold, such as yes=0.7")
        }
        try self.init(word: parts[0], number: number)
    }

    init(word: String, number: Double) throws(ControlError) {
        guard !word.isEmpty else { throw .command.saying("a threshold needs a word before it, such as yes=0.7") }
        guard number > 0, number < 1 else {
            throw .command.saying("the threshold of '\(word.prefix(40))' lies between 0 and 1, such as 0.7")
        }
        self.word = word
        threshold = Float(number)
    }
}
