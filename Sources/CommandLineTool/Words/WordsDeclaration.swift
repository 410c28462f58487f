extension WordsCommand: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "words",
                abstract: "list, show, export, import or rename taught words",
                operands: [Operand(title: "word", completion: .taughtWord, isOptional: true)],
                tasks: [
                    CommandName(
                        name: "export",
                        abstract: "write all or some words to a file, with the recordings that were kept",
                        operands: [
                            Operand(title: "file", completion: .file),
                            Operand(title: "word", completion: .taughtWord, repeats: true, isOptional: true),
                        ],
                        manual: """
                            An existing file is not replaced.
                            .Ql -
                            is standard output.
                            """
                    ),
                    CommandName(
                        name: "import",
                        abstract: "add the words of such a file",
                        operands: [Operand(title: "file", completion: .file)],
                        manual: """
                            .Ql -
                            is standard input.
                            If words of the same names exist already, nothing is imported, unless
                            .Fl -replace
                            is given.
                            Words that were taught to another model are learnt again from their recordings.
                            """
                    ),
                    CommandName(
                        name: "rename",
                        abstract: "give a word another name",
                        operands: [
                            Operand(title: "word", completion: .taughtWord),
                            Operand(title: "name", completion: .nothing),
                        ],
                        manual: """
                            Takes and negative examples stay.
                            If the configuration that
                            .Cm beckon listen
                            reads has the old name, each place is printed as a warning.
                            """
                    ),
                ],
                help: "list the words that were taught, or show one with its negative examples",
                manual: """
                    With the number of takes and of negative examples, the threshold, and how
                    many recordings were kept.
                    With
                    .Fl -forget-negative
                    a negative example of the word is removed; the takes stay.
                    """
            ),
            CommandName(
                name: "forget",
                abstract: "remove taught words",
                operands: [Operand(title: "word", completion: .taughtWord, repeats: true)],
                help: "remove words, with their recordings",
                manual: """
                    A running service stops detecting them.
                    If the configuration that
                    .Cm beckon listen
                    reads names one of them, each place is printed as a warning; a service starts
                    without these words.
                    """
            ),
        ],
        abstract: "taught words",
        usage: [
            "beckon words [--json] [WORD]", "beckon words WORD --forget-negative N",
            "beckon words export FILE|- [WORD…]", "beckon words import [--replace] FILE|-",
            "beckon words rename WORD NAME",
            "beckon forget WORD…",
        ],
        groups: [
            "Options": [
                SharedOptions.wordsFile(
                    .file,
                    help: "file that the words are kept in (default: see below)",
                    manual: ""
                ),
                Option(
                    name: "--model",
                    short: "-m",
                    value: .model,
                    help: "model that import and rename learn words for (default: the commands model)"
                ),
                Option(
                    name: "--forget-negative",
                    value: .text("N", "number"),
                    help: "remove this negative example of the word, by its number in beckon words WORD"
                ),
                Option(name: "--replace", help: "import also replaces words of the same name"),
                SharedOptions.json(help: "print one JSON object per line", manual: "The other tasks print nothing."),
            ]
        ],
        notes: """
            Words are kept in one file, $BECKON_WORDS, by default words in
            ~/.local/state/beckon. The service keeps its own in /var/lib/beckon, where
            root teaches it: sudo beckon enroll computer.

            Exit status: 0 on success, 1 on failure; nothing is changed then.
            """,
        examples: ["beckon words export - | ssh kitchen beckon words import -"]
    )
}
