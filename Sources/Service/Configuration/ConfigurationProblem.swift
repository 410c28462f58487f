import Core
public import JSON

/// One mistake in a configuration, and its place.
public struct ConfigurationProblem: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file's path; nil for a problem of another file, which the message names.
    public let file: String?
    /// Line and column; nil if the problem concerns the whole file.
    public private(set) var place: TextPlace?
    /// The key, such as `words.yes.threshold`; empty if the problem concerns the whole file.
    public private(set) var key = ""
    /// What is wrong, and what to do.
    public let message: String
    /// A warning does not make the configuration invalid.
    public private(set) var isWarning = false

    /// A mistake that keeps a configuration from being used, but lies in another file, such as that of the taught words.
    ///
    /// - Parameter message: names the file.
    public static func ofOtherFile(_ message: String) -> ConfigurationProblem {
        ConfigurationProblem(file: nil, message: message)
    }

    /// One line: file, line, column, key, what is wrong and what to do.
    public var description: String {
        let line = place.map { ":\($0)" } ?? ""
        let start = file.map { "\($0)\(line): " } ?? ""
        let subject = key.isEmpty ? "" : "\(key): "
        return printable("\(start)\(isWarning ? "warning: " : "")\(subject)\(message)")
    }
}

/// All problems of an invalid configuration, warnings included, in the order of the file.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// All errors and warnings.
    public let problems: [ConfigurationProblem]

    /// One line for each problem.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// Collects problems while a configuration is read, and remembers the place of each key.
struct Findings {
    let file: String
    private(set) var problems: [ConfigurationProblem] = []
    /// The places of the keys read so far.
    private(set) var places: [String: TextPlace] = [:]
    /// Actions, phrases and sessions with their keys, for the checks that need the whole configuration.
    var actions: [(key: String, value: Action)] = []
    var phrases: [(key: String, value: Configuration.Phrase)] = []
    var sessions: [(key: String, value: Configuration.Session)] = []

    /// - Parameter places: the places of keys, as far as they are known.
    init(file: String, places: [String: TextPlace] = [:]) {
        self.file = file
        self.places = places
    }

    /// Most problems that are reported; what is read after them is not looked at.
    static let limit = 100
    /// Whether so many problems were found that the rest of the file is not worth a look.
    var isFull: Bool { problems.count >= Self.limit }

    mutating func note(_ key: String, _ place: TextPlace) { places[key] = place }

    /// Adds a problem of another file.
    mutating func add(_ problem: ConfigurationProblem) {
        if !isFull { problems.append(problem) }
    }

    mutating func add(_ message: String, key: String = "", at place: TextPlace? = nil, isWarning: Bool = false) {
        guard !isFull else { return }
        problems.append(
            ConfigurationProblem(
                file: file,
                place: place ?? places[key],
                key: Self.cut(key, 120),
                message: Self.cut(message, 500),
                isWarning: isWarning
            )
        )
    }

    /// A text of at most so many characters, because names in a file may be as long as the file.
    private static func cut(_ text: String, _ length: Int) -> String {
        guard text.utf8.count > length, text.count > length else { return text }
        return text.prefix(length - 1) + "…"
    }

    /// - Parameter meant: what the node may have meant; nil for no idea.
    mutating func expected(_ what: String, at key: String, not node: JSONNode, meant: String? = nil) {
        let hint = meant.map { "; did you mean \($0)?" } ?? ""
        add("expected \(what), not \(node.description)\(hint)", key: key, at: node.place)
    }

    /// Errors and warnings by place; those that concern the whole file come first.
    var sorted: [ConfigurationProblem] {
        let start = TextPlace(line: 0, column: 0)
        let sorted = problems.enumerated().sorted {
            ($0.element.place ?? start, $0.offset) < ($1.element.place ?? start, $1.offset)
        }
        return sorted.map(\.element) + (isFull ? [rest] : [])
    }

    /// Stands for what was not looked at; an error, because there may be errors.
    private var rest: ConfigurationProblem {
        let message = "\(Self.limit) problems or more; the rest of the file was not checked"
        return ConfigurationProblem(file: file, message: message)
    }
}

/// A text that is not a valid value. ``description`` is one line that says why, and what to write instead.
public struct InvalidValue: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = printable(description) }
}
