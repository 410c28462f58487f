/// A command of the program, or a few that share an explanation, as `words` and `forget` do.
protocol Command: SendableMetatype {
    static var declaration: CommandDeclaration { get }

    /// - Throws: a ``UsageError`` for a command line that cannot be understood.
    init(_ arguments: Arguments) throws

    /// Does the work. Returns the exit status.
    func run() throws -> Int32
}

/// What a command is called, takes and does. Parsing, help, completions and the manual page's lists come from it.
struct CommandDeclaration: Sendable {
    let names: [CommandName]
    /// What it does, in a line: for the title of its help.
    let abstract: String
    /// Command lines, such as `beckon classify [OPTION…] FILE|DIR…`.
    let usage: [String]
    /// Paragraphs, between which an empty line stands; help breaks their lines anew.
    var discussion = ""
    var groups: [OptionGroup] = []
    /// Paragraphs below the options, such as the exit status.
    var notes = ""
    /// Whole command lines.
    var examples: [String] = []
    /// Talks to a service that runs.
    var needsService = false

    /// Every option, `--help` last.
    var options: [Option] { groups.flatMap(\.options) + [.help] }

    /// As headings name it: `words, forget`.
    var title: String { names.map(\.name).joined(separator: ", ") }

    func name(_ name: String) -> CommandName? { names.first { $0.name == name } }
}

/// A name that a command goes by, or a task of a command, such as `check` of `config`.
struct CommandName: Sendable {
    let name: String
    /// For lists of commands, of which it is a line.
    let abstract: String
    var operands: [Operand] = []
    /// What its first operand may be, each with operands of its own; empty where it has no tasks.
    var tasks: [CommandName] = []
    /// Below it in lists: what the abstract leaves out.
    var help: String?
    /// What the manual page says, in mdoc(7); empty where the page's prose says it.
    var manual = ""
}

/// A word of the command line that is no option.
struct Operand: Sendable {
    /// In the manual page and for zsh: `file`.
    let title: String
    let completion: Completion
    var repeats = false
    var isOptional = false
    /// Offered only behind this option.
    var after: String?

    init(
        _ title: String,
        _ completion: Completion,
        repeats: Bool = false,
        isOptional: Bool = false,
        after: String? = nil
    ) {
        self.title = title
        self.completion = completion
        self.repeats = repeats
        self.isOptional = isOptional
        self.after = after
    }
}
