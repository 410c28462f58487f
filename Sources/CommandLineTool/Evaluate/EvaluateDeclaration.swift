extension Evaluate: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "evaluate",
                abstract: "measure a model's accuracy on labelled recordings",
                operands: [Operand(title: "file", completion: .file, repeats: true)]
            )
        ],
        usage: ["beckon evaluate [OPTION…] DIR", "beckon evaluate --stream [OPTION…] FILE|DIR…"],
        discussion: """
            DIR holds clips of one second in folders named after what is said in them, as
            in Speech Commands: yes/1.wav, no/2.flac, … A folder named like a word of the
            model or a taught word is that word; _silence_ and silence are silence, as are
            the long recordings in _background_noise_, second by second; all others are
            other speech, and are listed once.

            With --stream the files are long recordings, each with a label track beside
            it as Audacity exports it (talk.wav and talk.txt): one line per word with
            start and end in seconds and the word, separated by tabs. Words that the
            model does not know are other speech. An empty track says that no word is
            spoken. Taught words and wake words with models of their own are measured like
            the model's words.
            """,
        groups: [
            "What to measure": [
                Option(
                    name: "--list",
                    value: .file,
                    help:
                        "only the clips named there, one per line, such as the dataset's validation_list.txt"
                ),
                Option(
                    name: "--stream",
                    help: "long recordings with label tracks, through the whole detector",
                    manual: """
                        Each has a label track beside it as Audacity exports it
                        .Pq Pa talk.wav No and Pa talk.txt .
                        """
                ),
                Option(
                    name: "--tolerance",
                    value: .seconds(0...60, expected: "seconds from 0 to 60"),
                    help: "time after a word's end in which it may still be detected (default: 1 second)"
                ),
                SharedOptions.mode(preset: nil), SharedOptions.trigger, SharedOptions.sensitivity,
                SharedOptions.threshold, SharedOptions.word, SharedOptions.model, SharedOptions.noConfirm,
                SharedOptions.channel, SharedOptions.echoReference,
                SharedOptions.wordsFile(
                    help: "file of the taught words, or none (default: the file that enroll writes)",
                    manual: ""
                ),
                SharedOptions.wakeWord,
            ],
            "Output": [
                SharedOptions.json(help: "print everything as one JSON object, with the curves"),
                Option(
                    name: "--html",
                    value: .file,
                    help: "also write a report with charts; with --stream, every error has a link to its own page",
                    manual: """
                        These pages, like that of
                        .Cm inspect ,
                        go into a folder beside the report: for
                        .Pa report.html
                        into
                        .Pa report-errors .
                        """
                ),
                Option(
                    name: "--pages",
                    value: .whole(0...10_000),
                    help: "pages of errors to write (default: 100); the others are listed with their command"
                ),
                Option(name: "--audio", help: "embed the sound in the pages of errors, with a player"),
            ],
            "Processing": [SharedOptions.jobs],
        ],
        notes: """
            A file that cannot be read is reported and skipped, and the exit status is
            then 1. Ctrl-C ends without a report.
            """,
        examples: [
            "beckon evaluate speech_commands/ --list speech_commands/testing_list.txt",
            "beckon evaluate --stream --html report.html recordings/",
        ]
    )

}
