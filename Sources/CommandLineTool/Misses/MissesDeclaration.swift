extension MissesCommand: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "misses",
                abstract: "list words that were detected or nearly detected, with their clips",
                tasks: [
                    CommandName(
                        name: "play",
                        abstract: "play the clip of one",
                        operands: [Operand(title: "number", completion: .nothing)],
                        manual: "Needs aplay(1)."
                    ),
                    CommandName(
                        name: "export",
                        abstract: "copy the clip of one to a file",
                        operands: [
                            Operand(title: "number", completion: .nothing), Operand(title: "file", completion: .file),
                        ],
                        manual: """
                            The file must not exist;
                            .Ql -
                            is standard output.
                            """
                    ),
                ],
                help: "list the last words that the service detected or nearly detected",
                manual: """
                    The list has number, time, score, threshold, mode, level and signal-to-noise
                    ratio, the newest word first.
                    A word is nearly detected
                    .Pq missed
                    if its score comes within
                    .Va misses.margin
                    under its threshold.
                    The service keeps them where
                    .Va misses.dir
                    is set; see
                    .Xr beckon.conf 5 .
                    """
            )
        ],
        abstract: "words that were detected or nearly detected",
        usage: ["beckon misses [--near] [--json]", "beckon misses play N", "beckon misses export N FILE|-"],
        discussion: """
            Tells false accepts and misses of the running service, with what was heard. It keeps them if misses.dir is
            set in its configuration. A false accept of a taught word can become a negative example: see beckon help
            enroll.
            """,
        groups: [
            "Options": [
                Option(name: "--near", help: "list only words that were nearly detected"),
                SharedOptions.instance, ControlVerb.socketOption,
                SharedOptions.json(help: "print one JSON object per line"),
            ]
        ],
        notes: "Exit status: 0 on success, 1 if no service runs or keeps words, or a clip cannot be read.",
        examples: ["beckon misses --near", "beckon misses play 12", "beckon misses export 12 clip.wav"],
        needsService: true
    )
}
