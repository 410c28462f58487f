extension ModelCommand: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "model",
                abstract: "add, list or remove wake words with models of their own",
                tasks: [
                    CommandName(
                        name: "list",
                        abstract: "print the wake words that came with the program, and those that were added"
                    ),
                    CommandName(
                        name: "add",
                        abstract: "check a model of microWakeWord or openWakeWord, and copy it with its manifest",
                        operands: [Operand(title: "file", completion: .file)],
                        manual: """
                            The file is the manifest, or the model with the manifest beside it.
                            A model of openWakeWord needs no manifest: the word is the
                            file's name, and a manifest is written.
                            """
                    ),
                    CommandName(
                        name: "remove",
                        abstract: "remove a wake word that was added",
                        operands: [Operand(title: "name", completion: .nothing)]
                    ),
                ]
            )
        ],
        usage: ["beckon model list [--json]", "beckon model add FILE", "beckon model remove NAME"],
        discussion: """
            Wake words are off unless wakeWords in the configuration, or an option of
            listen, classify and serve, names them.
            """,
        groups: [
            "Options": [
                SharedOptions.json(help: "print one JSON object per line", manual: "With remove nothing is printed.")
            ]
        ],
        notes: """
            They are kept in the folder wake-words beside the taught words: in
            ~/.local/state/beckon, and for the service where root teaches words.

            Exit status: 0 on success, 1 on failure; nothing is changed then.
            """,
        examples: ["beckon model list"]
    )
}
