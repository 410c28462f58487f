/// A command of the program, or several that share one help page, as `words` and `forget` do.
protocol Command: SendableMetatype {
    static var declaration: CommandDeclaration { get }

    /// - Throws: a ``UsageError`` if the command line is invalid.
    init(_ arguments: Arguments) throws

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32
}

/// A command's names, options and texts. Parsing, help, completions and the manual page's lists are made from it.
struct CommandDeclaration: Sendable {
    let names: [CommandName]
    /// What all its names do, in one line, for the title of its help page; nil for what its only name does.
    var abstract: String?
    /// The forms of its command line, such as `beckon classify [OPTION…] FILE|DIR…`.
    let usage: [String]
    /// Paragraphs, separated by an empty line; help wraps their lines.
    var discussion = ""
    /// Options under the headings of its help page.
    var groups: KeyValuePairs<String, [Option]> = [:]
    /// Paragraphs below the options, such as one on the exit status.
    var notes = ""
    /// Complete command lines.
    var examples: [String] = []
    /// Whether it sends a command to the running service.
    var needsService = false

    /// Every option, `--help` last.
    var options: [Option] { groups.flatMap(\.value) + [.help] }

    /// Its names for a heading: `words, forget`.
    var title: String { names.map(\.name).joined(separator: ", ") }

    func name(_ name: String) -> CommandName? { names.first { $0.name == name } }
}

/// A name of a command, or of a command's task, such as `check` of `config`.
struct CommandName: Sendable {
    let name: String
    /// One line, for lists of commands.
    let abstract: String
    var operands: [Operand] = []
    /// The values of its first operand, each with operands of its own; empty if it has no tasks.
    var tasks: [CommandName] = []
    /// A longer text for the command's help page, in place of the abstract.
    var help: String?
    /// What the manual page says beside the help, in mdoc(7).
    var manual = ""
}

/// An argument of the command line that is not an option.
struct Operand: Sendable {
    /// Its name in the manual page and for zsh: `file`.
    let title: String
    let completion: Completion
    var repeats = false
    var isOptional = false
    /// Completed only if this option was given.
    var after: String?
}
