extension ConfigCommand: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "config",
                abstract: "check the service's configuration, or print it",
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
                ]
            )
        ],
        usage: ["beckon config check [FILE]", "beckon config show [FILE]"],
        discussion: """
            Without FILE it is the one that the service would read: the user's own,
            ~/.config/beckon/config.json5, if it exists, else the system's,
            /etc/beckon/config.json5. It is JSON with comments; the sample explains every
            key.
            """,
        notes: "Exit status: 0 if the configuration is valid, 1 if it is not."
    )
}
