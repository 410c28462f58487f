private import FoundationEssentials

extension Evaluate: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "evaluate",
                abstract: "measure a model's accuracy on labelled recordings",
                operands: [Operand("file", .file, repeats: true)]
            )
        ],
        abstract: "measure a model's accuracy on labelled recordings",
        usage: ["beckon evaluate [OPTION…] DIR", "beckon evaluate --stream [OPTION…] FILE|DIR…"],
        discussion: """
            DIR holds clips of one second in folders named after what is said in them, as
            in Speech Commands: yes/1.wav, no/2.flac, … A folder named like a word of the
            model is that word; _silence_ and silence are silence, as are the long
            recordings in _background_noise_, second by second; all others are unknown.

            With --stream the files are long recordings, each with a label track beside
            it as Audacity exports it (talk.wav and talk.txt): one line per word with
            start and end in seconds and the word, separated by tabs. Words that the
            model does not know are other speech. An empty track says that no word is
            spoken. Taught words are measured like the model's words.
            """,
        groups: [
            OptionGroup(
                "What to measure",
                [
                    Option(
                        "--list",
                        .file,
                        help:
                            "only the clips named there, one per line, such as the dataset's validation_list.txt",
                        manual: "Takes only the clips named there, one per line."
                    ),
                    Option(
                        "--stream",
                        help: "long recordings with label tracks, through the whole detector",
                        manual: """
                            Takes long recordings in place of clips, each with a label track beside it as
                            Audacity exports it
                            .Pq Pa talk.wav No and Pa talk.txt ,
                            and plays them through the whole detector.
                            """
                    ),
                    Option(
                        "--tolerance",
                        .seconds(0...60, expected: "seconds from 0 to 60"),
                        help: "time after a word's end in which it may still be detected (default: 1 second)",
                        manual: "How long after its end a word may still be detected; 1 second by default."
                    ),
                    SharedOptions.mode(preset: nil), SharedOptions.trigger, SharedOptions.sensitivity,
                    SharedOptions.threshold, SharedOptions.word, SharedOptions.model, SharedOptions.channel,
                    SharedOptions.wordsFile(
                        help: "file of the taught words, or none; with --stream (default: the file that enroll writes)",
                        manual: """
                            With
                            .Fl -stream ,
                            as for
                            .Cm listen ;
                            clips are measured on the model's words alone.
                            """
                    ),
                ]
            ),
            OptionGroup(
                "Output",
                [
                    SharedOptions.json(
                        help: "print everything as one JSON object, with the curves",
                        manual: "Prints everything as one JSON object, with the curves."
                    ),
                    Option(
                        "--html",
                        .file,
                        help: "also write a report with charts; with --stream, every error has a link to its own page",
                        manual: """
                            Also writes a report with charts.
                            With
                            .Fl -stream
                            it lists every miss, wrong word and false accept, each with a link to a page
                            like that of
                            .Cm inspect ;
                            these pages go into a folder beside the report: for
                            .Pa report.html
                            into
                            .Pa report-errors .
                            """
                    ),
                    Option(
                        "--pages",
                        .whole(0...10_000),
                        help: "pages of errors to write (default: 100); the others are listed with their command",
                        manual: """
                            How many pages of errors to write; 100 by default.
                            For the other errors the report shows the command that makes the page.
                            """
                    ),
                    Option(
                        "--audio",
                        help: "embed the sound in the pages of errors, with a player",
                        manual: """
                            Embeds the sound in the pages of errors, with a player, as for
                            .Cm inspect .
                            """
                    ),
                ]
            ),
            OptionGroup("Processing", [SharedOptions.jobs]),
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

    init(_ arguments: Arguments) throws {
        try self.init(EvaluateOptions(arguments, processors: ProcessInfo.processInfo.activeProcessorCount))
    }
}
