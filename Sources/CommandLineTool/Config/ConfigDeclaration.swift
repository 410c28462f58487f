extension ConfigCommand: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "config",
                abstract: "check, print or write the service's configuration",
                tasks: [
                    CommandName(
                        name: "check",
                        abstract: """
                            report every mistake, one per line: file:line:column, key and what was expected; warn \
                            of programs that do not exist
                            """,
                        operands: [Operand(title: "file", completion: .file, isOptional: true)]
                    ),
                    CommandName(
                        name: "show",
                        abstract: "print every key with the value in force, as one JSON object",
                        operands: [Operand(title: "file", completion: .file, isOptional: true)]
                    ),
                    CommandName(
                        name: "init",
                        abstract: """
                            ask three questions, and write a configuration with comments, then print its name and \
                            the next command; an existing file is not replaced, and - is standard output
                            """,
                        operands: [Operand(title: "file", completion: .file, isOptional: true)]
                    ),
                ]
            )
        ],
        usage: [
            "beckon config check [FILE]", "beckon config show [FILE]", "beckon config init [--yes] [--system|FILE|-]",
        ],
        discussion: """
            Without FILE it is the one that the service would read: the user's own,
            ~/.config/beckon/config.json5, if it exists, else the system's,
            /etc/beckon/config.json5. It is JSON with comments; the sample explains every
            key. init writes the user's own. For root that is the system's, which it asks
            about first; --system says that it is meant, and --yes needs it, or FILE.
            """,
        groups: [
            "Options": [
                SharedOptions.instance,
                Option(name: "--yes", short: "-y", help: "init asks nothing, and takes the default of every answer"),
                Option(name: "--system", help: "init writes the configuration of the system's service; for root"),
            ]
        ],
        notes: "Exit status: 0 if the configuration is valid or was written, 1 if not.",
        examples: ["beckon config init", "beckon config init --yes kitchen.json5"]
    )
}
