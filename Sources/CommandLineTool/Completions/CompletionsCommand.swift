private import Core

/// `beckon completions SHELL`: prints the completion of a shell, for those who did not install the package.
struct CompletionsCommand {
    private enum Shell: String, CaseIterable { case bash, zsh, fish }

    private let shell: Shell

    init(_ arguments: Arguments) throws(UsageError) {
        let names = Shell.allCases.map(\.rawValue)
        guard let name = arguments.operands.first, arguments.operands.count == 1 else {
            throw UsageError("completions takes the name of one shell: \(names.joined(separator: ", "))")
        }
        guard let shell = Shell(rawValue: name) else {
            throw UsageError("no completion for \(printable(name)); there are \(names.joined(separator: ", "))")
        }
        self.shell = shell
    }

    /// Prints the completion. Returns the exit status.
    func run() -> Int32 {
        let commands = CommandLineTool.declarations
        switch shell {
        case .bash: Output.write(BashCompletion(commands: commands).text)
        case .zsh: Output.write(ZshCompletion(commands: commands).text)
        case .fish: Output.write(FishCompletion(commands: commands).text)
        }
        return 0
    }
}

extension CompletionsCommand: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "completions",
                abstract: "print the completion of a shell",
                operands: [Operand(title: "shell", completion: .names(Shell.allCases.map(\.rawValue)))]
            )
        ],
        usage: ["beckon completions bash|zsh|fish"],
        discussion: """
            The package installs all three; this is for a program that was built from
            source. bash and fish read the output at each start; zsh reads a file named
            _beckon in a folder of its fpath.
            """,
        examples: [
            "echo 'source <(beckon completions bash)' >> ~/.bashrc",
            "beckon completions zsh > ~/.zfunc/_beckon",
            "beckon completions fish > ~/.config/fish/completions/beckon.fish",
        ]
    )
}

/// The words offered by completions: those of the model that comes with the program.
let completionWords = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"]

/// The names of the sensitivities, as a shell takes a list.
var sensitivities: String { Sensitivity.allCases.map(\.rawValue).joined(separator: " ") }

/// Values by their key, in the order in which the keys come first.
func grouped<Key: Hashable, Value>(_ pairs: [(Key, Value)]) -> [(key: Key, values: [Value])] {
    var places: [Key: Int] = [:]
    var groups: [(key: Key, values: [Value])] = []
    for (key, value) in pairs {
        if let place = places[key] {
            groups[place].values.append(value)
        } else {
            places[key] = groups.count
            groups.append((key, [value]))
        }
    }
    return groups
}
