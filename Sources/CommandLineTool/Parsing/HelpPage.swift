private import Core

/// The texts of `beckon help`: at most 80 columns, which a test checks, or as many as a narrower terminal has.
struct HelpPage {
    /// Columns of a line.
    private let width: Int
    /// Below it, texts stand below their names, not beside them.
    private static let narrow = 60

    private init(room: Int?) { width = min(80, room ?? 80) }

    /// The page of the whole program: its commands and common options.
    ///
    /// - Parameter room: columns of the terminal; nil where the page goes elsewhere.
    static func overview(_ commands: [CommandDeclaration], room: Int?) -> String { HelpPage(room: room).page(commands) }

    static func overview(_ commands: [CommandDeclaration]) -> String { overview(commands, room: nil) }

    /// The page of one command, or of several that share a page.
    ///
    /// - Parameter room: columns of the terminal; nil where the page goes elsewhere.
    static func text(_ command: CommandDeclaration, room: Int?) -> String { HelpPage(room: room).page(command) }

    static func text(_ command: CommandDeclaration) -> String { text(command, room: nil) }

    private func page(_ commands: [CommandDeclaration]) -> String {
        let names = commands.flatMap { declaration in declaration.names.map { ($0, declaration.needsService) } }
        func list(_ needsService: Bool) -> [(String, String)] {
            names.filter { $0.1 == needsService }.map { ($0.0.name, $0.0.abstract) }
        }
        let page = [
            "beckon — find spoken command words and act on them",
            "Usage: beckon COMMAND [OPTION…]",
            section("Commands", list(false) + [("help", "explain a command: beckon help classify")], column: 14),
            section("Commands to the running service", list(true), column: 14),
            section(
                "Options",
                [
                    ("--version", "print the version"), ("-h, --help", "print this text"),
                    ("-i NAME", "speak to one of several services: beckon -i kitchen status"),
                ],
                column: 14
            ),
            paragraphs(
                """
                Exit status: 0 on success, 1 on failure (a line on standard error says what
                failed), 2 for an invalid command line, 78 if the configuration is wrong, or a
                model or word that it or an option names, 130 after Ctrl-C.
                """
            ),
            "If something does not work: beckon doctor.",
        ].joined(separator: "\n\n")
        return fitted(page + "\n", columns: width)
    }

    private func page(_ command: CommandDeclaration) -> String {
        var parts = [
            "beckon \(command.title) — \(command.abstract ?? command.names.first?.abstract ?? "")",
            usage(command.usage),
            paragraphs(command.discussion),
        ]
        let tasks = command.names.flatMap { name in (command.names.count > 1 ? [name] : []) + name.tasks }
        parts.append(section(nil, tasks.map { ($0.name, $0.help ?? $0.abstract) }, column: 12))
        parts += command.groups.map { title, options in
            section(title, options.map { ($0.spelling, help($0)) }, column: 22)
        }
        parts.append(paragraphs(command.notes))
        if !command.examples.isEmpty {
            let title = command.examples.count == 1 ? "Example" : "Examples"
            parts.append("\(title):\n" + command.examples.map { "  " + $0 }.joined(separator: "\n"))
        }
        return fitted(parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n", columns: width)
    }

    private func usage(_ lines: [String]) -> String {
        lines.enumerated().map { ($0 == 0 ? "Usage: " : "       ") + $1 }.joined(separator: "\n")
    }

    /// The option's text, and one line for each of its choices.
    private func help(_ option: Option) -> String {
        guard let choices = option.value?.choices, !choices.isEmpty else { return option.help }
        return ([option.help + ":"] + choices.map { "\($0.name): \($0.help)" }).joined(separator: "\n")
    }

    /// A list of names, with their texts beside them from `column` on.
    private func section(_ title: String?, _ rows: [(name: String, text: String)], column: Int) -> String {
        guard !rows.isEmpty else { return "" }
        let column = width < Self.narrow ? 4 : column
        let lines = rows.flatMap { row in
            let text = row.text.split(separator: "\n").flatMap { wrapped($0, width: width - column) }
            let isLong = row.name.count + 3 > column
            let first = isLong ? ["  " + row.name] : []
            return first
                + text.enumerated().map { index, line in
                    pad(index == 0 && !isLong ? "  " + row.name : "", column) + line
                }
        }
        return ((title.map { [$0 + ":"] } ?? []) + lines).joined(separator: "\n")
    }

    /// Wraps paragraphs, which are separated by an empty line.
    private func paragraphs(_ text: String) -> String {
        text.split(separator: "\n\n").map { paragraph in
            wrapped(paragraph.replacing("\n", with: " "), width: width).joined(separator: "\n")
        }.joined(separator: "\n\n")
    }
}
