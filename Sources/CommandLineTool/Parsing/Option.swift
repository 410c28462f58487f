private import Core

/// An option of a command: its names, its value, and its texts in help and manual.
///
/// Parsing, help, the shells' completions and the manual page's lists are made from this one declaration.
struct Option: Sendable {
    /// With its dashes, such as `--jobs`.
    let name: String
    /// One letter with its dash, such as `-j`.
    var short: String?
    /// Nil for a flag.
    var value: OptionValue?
    /// Whether it may be given several times with different values.
    var repeats = false
    /// The text in help and in the manual page, without a line end. The part before the first of `,`, `;`, `:` and ` (` must make
    /// sense alone: the shells show it beside the option.
    let help: String
    /// What the manual page says beside that, in mdoc(7).
    var manual = ""
    /// Whether the manual page describes it only once, in the section on options of all commands that listen.
    var isForListening = false
    /// What other programs of the kind call it: nobody's name here, but understood in the message about it.
    var foreignNames: [String] = []

    /// The names and the placeholder for help: `-j, --jobs N`.
    var spelling: String {
        (short.map { $0 + ", " } ?? "") + name + (value.map { " " + $0.placeholder } ?? "")
    }

    /// The text that the shells show beside the option.
    var summary: String {
        let end = [",", ";", ":", " ("].compactMap { help.firstRange(of: $0)?.lowerBound }.min()
        return String(help[..<(end ?? help.endIndex)])
    }

    /// The `--help` option, which every command has.
    static let help = Option(
        name: "--help",
        short: "-h",
        help: "explain the command",
        manual: "Every command has it.",
        isForListening: true
    )
}

/// The value that an option takes.
struct OptionValue: Sendable {
    /// One of the names that a value may be, and its meaning.
    struct Choice: Sendable {
        let name: String
        let help: String
    }

    /// The placeholder of the value in help, such as `N`.
    let placeholder: String
    /// The placeholder in the manual page and for zsh, as a word: `number`.
    let title: String
    /// The placeholder in mdoc(7), if it is more than a word.
    var synopsis: String?
    let completion: Completion
    /// A description of valid values, for messages: `a number from 1 to 256`.
    let expected: String
    let accepts: @Sendable (String) -> Bool
    /// What a text that is not accepted may have meant; nil for no idea.
    var suggests: @Sendable (String) -> String? = { _ in nil }
    /// The names that a value may be, in the order of help; empty if the value is not one of a list.
    var choices: [Choice] = []
}

/// What a shell offers as an option's value or as an operand.
enum Completion: Hashable, Sendable {
    case nothing, file, folder, device
    /// The name of a model that comes with the program, or a folder.
    case model
    /// A file of taught words, or `none`.
    case wordsFile
    /// Words of the model with commas between, a file of taught words, or `none`.
    case wordsOrFile
    /// A word of the model, followed by `=`.
    case modelWord
    /// What `beckon set` takes: a word followed by `=`, or `sensitivity` and then its name.
    case setting
    case taughtWord
    /// The name of an instance that has a configuration.
    case instance
    /// The name of a command.
    case command
    case names([String])
    /// A comma-separated list of these.
    case list([String])
}

extension OptionValue {
    /// Any text; the command checks it later.
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
    static let model = text("DIR", "folder", .model)
    static let device = text("NAME", "name", .device)

    static func whole(_ range: ClosedRange<Int>) -> OptionValue {
        OptionValue(
            placeholder: "N",
            title: "number",
            completion: .nothing,
            expected: "a number from \(range.lowerBound) to \(range.upperBound)",
            accepts: { Int(signedDigits: $0).map(range.contains) ?? false }
        )
    }

    /// A time in seconds, or with a unit or as a position: see ``SecondsText``.
    ///
    /// - Parameter expected: the description in messages, such as "seconds from 0 to 60".
    static func seconds(_ range: ClosedRange<Double>, expected: String) -> OptionValue {
        OptionValue(
            placeholder: "S",
            title: "seconds",
            completion: .nothing,
            expected: expected,
            accepts: { SecondsText.seconds($0).map(range.contains) ?? false },
            // A decimal comma.
            suggests: { text in
                let meant = text.replacing(",", with: ".")
                return meant != text && SecondsText.seconds(meant).map(range.contains) == true ? meant : nil
            }
        )
    }

    /// One of the names of an enumeration.
    ///
    /// - Parameters:
    ///   - synonyms: names that people use for one of them, in lower case, for the message about them.
    ///   - help: the meaning of each name, listed below the option's text.
    static func choice<Value: RawRepresentable & CaseIterable>(
        _ placeholder: String,
        _ type: Value.Type,
        synonyms: [String: String] = [:],
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
            suggests: { synonyms[$0.lowercased()] ?? nearestName(to: $0, of: names) },
            choices: choices
        )
    }

    /// A comma-separated list of names of an enumeration.
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
