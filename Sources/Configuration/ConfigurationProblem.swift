import Core

/// One mistake in a configuration, and its place.
public struct ConfigurationProblem: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file's path.
    public let file: String
    /// The line, from 1; nil if the problem concerns the whole file.
    public let line: Int?
    /// The key, such as `words.yes.threshold`; empty if the problem concerns the whole file.
    public let key: String
    /// What is wrong, and what to do.
    public let message: String
    /// A warning does not make the configuration invalid.
    public let isWarning: Bool

    /// One line: file, line, key, what is wrong and what to do.
    public var description: String {
        let place = file + (line.map { ":\($0)" } ?? "")
        let subject = key.isEmpty ? "" : "\(key): "
        return printable("\(place): \(isWarning ? "warning: " : "")\(subject)\(message)")
    }
}

/// All problems of an invalid configuration, warnings included, in the order of its lines.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// All errors and warnings.
    public let problems: [ConfigurationProblem]

    /// One line for each problem.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// Collects problems while a configuration is read, and remembers the line of each key.
struct Findings {
    let file: String
    private(set) var problems: [ConfigurationProblem] = []
    /// The lines of the keys read so far.
    private(set) var lines: [String: Int] = [:]
    /// Actions and phrases with their keys, for the checks that need the whole configuration.
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

    /// Errors and warnings by line; those that concern the whole file come first.
    var sorted: [ConfigurationProblem] {
        problems.enumerated().sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }.map(
            \.element
        )
    }
}

/// A text that is not a valid value. ``description`` is one line that says why, and what to write instead.
public struct InvalidValue: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = printable(description) }
}
