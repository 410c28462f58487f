/// An option of a command: how it is spelt, what it takes, and what help and manual say of it.
///
/// Parsing, help, the shells' completions and the manual page's lists all read this one declaration.
struct Option: Sendable {
    /// With its dashes, such as `--jobs`.
    let name: String
    /// One letter with its dash, such as `-j`.
    let short: String?
    /// Nil for a flag.
    let value: OptionValue?
    /// Whether every value counts, not the last alone.
    let repeats: Bool
    /// What help says, without a line end. The part before the first of `,`, `;`, `:` and ` (` must stand alone: it is what the
    /// shells show beside the option.
    let help: String
    /// What the manual page says, in mdoc(7).
    let manual: String
    /// Explained by the manual page once for all commands that listen, in a section of its own.
    let isForListening: Bool

    init(
        _ name: String,
        short: String? = nil,
        _ value: OptionValue? = nil,
        repeats: Bool = false,
        help: String,
        manual: String,
        isForListening: Bool = false
    ) {
        self.name = name
        self.short = short
        self.value = value
        self.repeats = repeats
        self.help = help
        self.manual = manual
        self.isForListening = isForListening
    }

    /// `-j N, --jobs N` is written `-j, --jobs N`.
    var spelling: String {
        (short.map { $0 + ", " } ?? "") + name + (value.map { " " + $0.placeholder } ?? "")
    }

    /// What the shells show beside the option.
    var summary: String {
        let end = [",", ";", ":", " ("].compactMap { help.firstRange(of: $0)?.lowerBound }.min()
        return String(help[..<(end ?? help.endIndex)])
    }

    /// Every command has it.
    static let help = Option(
        "--help",
        short: "-h",
        help: "explain the command",
        manual: "Explains the command; every command has it.",
        isForListening: true
    )
}

/// Options under one heading of a help text.
struct OptionGroup: Sendable {
    /// Without its colon.
    let title: String
    let options: [Option]

    init(_ title: String, _ options: [Option]) {
        self.title = title
        self.options = options
    }
}

/// What an option takes.
struct OptionValue: Sendable {
    /// One of a few names that a value may be, and what it means.
    struct Choice: Sendable {
        let name: String
        let help: String
    }

    /// What help puts in a value's place, such as `N`.
    let placeholder: String
    /// The same in the manual page, and for zsh, as a word: `number`.
    let title: String
    /// In mdoc(7), where it is more than a word.
    var synopsis: String?
    let completion: Completion
    /// What a value must be, for messages: `a number from 1 to 256`.
    let expected: String
    let accepts: @Sendable (String) -> Bool
    /// In the order of help; empty where a value is free.
    var choices: [Choice] = []
}

/// What a shell offers in the place of an option's value or of an operand.
enum Completion: Hashable, Sendable {
    case nothing, file, folder, device
    /// A file of taught words, or `none`.
    case wordsFile
    /// A word of the model, with `=` behind it.
    case modelWord
    /// A word that was taught.
    case taughtWord
    /// The name of a command.
    case command
    case names([String])
    /// Any of these, with commas between.
    case list([String])
}

extension OptionValue {
    /// Any text; what it must be is looked at where it is used.
    static func text(_ placeholder: String, _ title: String, _ completion: Completion = .nothing) -> OptionValue {
        OptionValue(
            placeholder: placeholder,
            title: title,
            completion: completion,
            expected: "a \(title)",
            accepts: { _ in true }
        )
    }

    static let file = text("FILE", "file", .file)
    static let folder = text("DIR", "folder", .folder)
    static let device = text("NAME", "name", .device)

    static func whole(_ range: ClosedRange<Int>) -> OptionValue {
        OptionValue(
            placeholder: "N",
            title: "number",
            completion: .nothing,
            expected: "a number from \(range.lowerBound) to \(range.upperBound)",
            accepts: { Int($0).map(range.contains) ?? false }
        )
    }

    /// - Parameter expected: such as "seconds from 0 to 60".
    static func seconds(_ range: ClosedRange<Double>, expected: String) -> OptionValue {
        OptionValue(
            placeholder: "S",
            title: "seconds",
            completion: .nothing,
            expected: expected,
            accepts: { Double($0).map(range.contains) ?? false }
        )
    }

    /// One of the names of an enumeration.
    ///
    /// - Parameter help: what a name means, for a list below the option's own text.
    static func choice<Value: RawRepresentable & CaseIterable>(
        _ placeholder: String,
        _ type: Value.Type,
        help: (Value) -> String
    ) -> OptionValue where Value.RawValue == String {
        let choices = Value.allCases.map { Choice(name: $0.rawValue, help: help($0)) }
        let names = choices.map(\.name)
        return OptionValue(
            placeholder: placeholder,
            title: placeholder.lowercased(),
            completion: .names(names),
            expected: "one of \(names.joined(separator: ", "))",
            accepts: { names.contains($0) },
            choices: choices
        )
    }

    /// Some of the names of an enumeration, with commas between.
    static func list<Value: RawRepresentable & CaseIterable>(_ placeholder: String, _ type: Value.Type) -> OptionValue
    where Value.RawValue == String {
        let names = Value.allCases.map(\.rawValue)
        return OptionValue(
            placeholder: "\(placeholder),…",
            title: placeholder.lowercased(),
            synopsis: "Ar \(placeholder.lowercased()) , Ns Ar ...",
            completion: .list(names),
            expected: "some of \(names.joined(separator: ", ")), with commas between",
            accepts: { text in
                text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { names.contains(String($0)) }
            }
        )
    }
}
