/// The manual page's lists of options and tasks, in mdoc(7).
///
/// In the page each list is between two comments, and is replaced there:
///
///     .\" Generated: options classify
///     …
///     .\" End
struct ManualLists {
    private let commands: [CommandDeclaration]
    private static let begin = #".\" Generated: "#
    private static let end = #".\" End"#

    init(_ commands: [CommandDeclaration]) { self.commands = commands }

    /// Returns the page with all lists generated anew.
    ///
    /// - Throws: a ``Failure`` if a comment names an unknown list, or has no `End` comment.
    func renew(_ page: String) throws(Failure) -> String {
        var lines: [Substring] = []
        var rest = page.split(separator: "\n", omittingEmptySubsequences: false)[...]
        while let line = rest.popFirst() {
            lines.append(line)
            guard line.hasPrefix(Self.begin) else { continue }
            let name = String(line.dropFirst(Self.begin.count))
            guard let list = list(name), let end = rest.firstIndex(where: { $0 == Self.end }) else {
                throw Failure("the manual page: '\(name)' is an unknown list, or its End comment is missing")
            }
            lines += list.map { $0[...] }
            rest = rest[end...]
        }
        return lines.joined(separator: "\n")
    }

    /// The names of all lists that the page should have.
    var names: [String] {
        ["options"]
            + commands.flatMap { command in
                (hasTasks(command) ? ["tasks \(command.title)"] : [])
                    + (own(command).isEmpty ? [] : ["options \(command.title)"])
            }
    }

    private func list(_ name: String) -> [String]? {
        guard names.contains(name) else { return nil }
        if name == "options" { return Self.list(shared.flatMap(Self.item)) }
        guard let command = commands.first(where: { name.hasSuffix(" " + $0.title) }) else { return nil }
        return Self.list(name.hasPrefix("tasks") ? tasks(command) : own(command).flatMap(Self.item))
    }

    /// The options of all commands that listen, without duplicates.
    private var shared: [Option] {
        var names: Set<String> = []
        return commands.flatMap(\.options).filter { $0.isForListening && names.insert($0.name).inserted }
            .filter { $0.name != Option.help.name } + [.help]
    }

    private func own(_ command: CommandDeclaration) -> [Option] { command.options.filter { !$0.isForListening } }

    private func hasTasks(_ command: CommandDeclaration) -> Bool {
        command.names.count > 1 || command.names.contains { !$0.tasks.isEmpty }
    }

    private func tasks(_ command: CommandDeclaration) -> [String] {
        command.names.flatMap { name in
            let own = command.names.count > 1 ? Self.item(name, of: "") : []
            let prefix = command.names.count > 1 ? name.name + " " : ""
            return own + name.tasks.flatMap { Self.item($0, of: prefix) }
        }
    }

    private static func list(_ items: [String]) -> [String] { [".Bl -tag -width Ds"] + items + [".El"] }

    private static func item(_ name: CommandName, of command: String) -> [String] {
        let operands = name.operands.map { operand in
            (operand.isOptional ? " Op" : "") + " " + synopsis(operand) + (operand.repeats ? " ..." : "")
        }
        return [".It Cm \(command)\(name.name)\(operands.joined())"] + sentence(name.help ?? name.abstract)
            + lines(name.manual)
    }

    private static func synopsis(_ operand: Operand) -> String {
        operand.completion == .setting ? OptionValue.wordConfidence.mdoc : "Ar \(operand.title)"
    }

    static func item(_ option: Option) -> [String] {
        let short = option.short.map { "\($0.dropFirst()) , Fl " } ?? ""
        let value = option.value.map { " " + $0.mdoc } ?? ""
        let repeats = option.repeats && !option.help.contains("may be repeated") ? ["May be repeated."] : []
        return [".It Fl \(short)\(option.name.dropFirst())\(value)"] + text(option) + repeats + lines(option.manual)
    }

    private static func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    /// The help of an option, with its choices; their default may be another one in each command.
    private static func text(_ option: Option) -> [String] {
        guard let choices = option.value?.choices, !choices.isEmpty else { return sentence(option.help) }
        return sentence(option.help, end: ":")
            + choices.enumerated().flatMap { number, choice in
                let end = number == choices.count - 1 ? "." : ";"
                let meaning = choice.help.replacing(" (default)", with: "")
                return [".Cm \(choice.name) :"] + sentence(meaning, isStart: false, end: end)
            }
    }

    /// A line of help in mdoc(7): names of options and variables are marked, and lines fit 80 columns.
    private static func sentence(_ help: String, isStart: Bool = true, end: String = ".") -> [String] {
        let text = (isStart ? help.prefix(1).uppercased() + help.dropFirst() : help) + end
        var (lines, plain): ([String], [String]) = ([], [])
        func plainLines() -> [String] { wrapped(plain.joined(separator: " "), width: 78).map(protected) }
        for word in text.split(separator: " ") {
            let macro = word.hasPrefix("--") ? ".Fl" : word.hasPrefix("$") ? ".Ev" : nil
            let name = word.prefix { $0.isLetter || "-_$".contains($0) }
            if let macro, name.count > 2 {
                let rest = word[name.endIndex...].map { " \($0)" }.joined()
                lines += plainLines() + ["\(macro) \(name.dropFirst())\(rest)"]
                plain = []
            } else {
                plain.append((word.hasPrefix("-") ? "\\" : "") + word)
            }
        }
        return lines + plainLines()
    }

    /// A line that begins like a macro, protected from being one.
    private static func protected(_ line: String) -> String {
        (line.first == "." || line.first == "'" ? "\\&" : "") + line
    }
}

extension OptionValue {
    fileprivate var mdoc: String { synopsis ?? "Ar \(title)" }
}
