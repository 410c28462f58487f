import Core

/// One thing that is wrong with a configuration, and where.
public struct ConfigurationProblem: Error, Equatable, Sendable, CustomStringConvertible {
    public let file: String
    /// From 1; nil where the whole file is meant.
    public let line: Int?
    /// The key, such as `words.yes.threshold`; empty where the whole file is meant.
    public let key: String
    public let message: String
    /// The configuration can be used all the same.
    public let isWarning: Bool

    /// One line: file, line, key, what is wrong and what to do.
    public var description: String {
        let place = file + (line.map { ":\($0)" } ?? "")
        let subject = key.isEmpty ? "" : "\(key): "
        return printable("\(place): \(isWarning ? "warning: " : "")\(subject)\(message)")
    }
}

/// Everything that makes a configuration unusable, in the order of its lines.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    public let problems: [ConfigurationProblem]

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// Collects problems while a configuration is read, and remembers on which line each key stands.
struct Findings {
    let file: String
    private(set) var problems: [ConfigurationProblem] = []
    /// The lines of the keys read so far.
    private(set) var lines: [String: Int] = [:]
    /// Actions and phrases with their keys, for what can be checked only when all is read.
    var actions: [(key: String, action: Action)] = []
    var phrases: [(key: String, phrase: Configuration.Phrase)] = []

    init(file: String) { self.file = file }

    mutating func note(_ key: String, line: Int) { lines[key] = line }

    mutating func add(_ message: String, key: String = "", line: Int? = nil, isWarning: Bool = false) {
        let line = line ?? lines[key]
        problems.append(
            ConfigurationProblem(file: file, line: line, key: key, message: message, isWarning: isWarning)
        )
    }

    mutating func expected(_ what: String, at key: String, not node: JSON5Node) {
        add("expected \(what), not \(node.description)", key: key, line: node.line)
    }

    /// By line, errors and warnings alike; what belongs to the whole file stands first.
    var sorted: [ConfigurationProblem] {
        problems.enumerated().sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }.map(
            \.element
        )
    }
}

/// A text that is not what a setting or a command needs. ``description`` is one line that says why, and what to write.
public struct InvalidValue: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = printable(description) }
}
