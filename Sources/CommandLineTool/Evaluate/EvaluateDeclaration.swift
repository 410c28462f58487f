extension Evaluate: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "evaluate",
                abstract: "measure a model's accuracy on labelled recordings",
                operands: [Operand(title: "file", completion: .file, repeats: true)]
            )
        ],
        usage: [
            "beckon evaluate [OPTION…] DIR", "beckon evaluate --stream [OPTION…] FILE|DIR…",
            "beckon evaluate --compare FILE FILE",
        ],
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
                        "only the clips named there, one per line, such as the dataset's validation_list.txt",
                    manual: """
                        The speaker may follow the name after a tab.
                        A table with commas or tabs, whose first line names the columns
                        .Cm file
                        and
                        .Cm speaker ,
                        is understood, too; otherwise the speaker is that of a name such as
                        .Pa 0a2b_nohash_1.wav .
                        """
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
                SharedOptions.json(help: "print everything as one JSON object, with the curves and each clip"),
                Option(
                    name: "--csv",
                    help: """
                        print a row for each clip: file, said, label, heard, confidence, margin to the second, speaker \
                        where one is known, score of each label
                        """
                ),
                Option(
                    name: "--output",
                    short: "-o",
                    value: .file,
                    help: "file for the results as CSV or JSON, by its name or option; the tables are still printed"
                ),
                Option(
                    name: "--errors",
                    value: .errorCount,
                    help: "list so many wrong clips or detections, or all, each in a line of its own"
                ),
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
            "Thresholds, and two runs": [
                Option(
                    name: "--target",
                    value: .rateTarget,
                    help: """
                        propose thresholds for so many false accepts an hour at most: of each word the one that finds it \
                        most often, with 95 % intervals
                        """
                ),
                Option(
                    name: "--target-precision",
                    value: .precisionTarget,
                    help: "the same, for so large a share of right detections at least, such as 0.99"
                ),
                Option(
                    name: "--write-config",
                    value: .file,
                    help: "write the proposed thresholds as a configuration for listen",
                    manual: """
                        With
                        .Fl -stream
                        they are those of mode
                        .Cm command
                        unless
                        .Fl -mode
                        says otherwise.
                        """
                ),
                Option(
                    name: "--compare",
                    help: "compare two files of --json on the clips that both have",
                    manual: """
                        For all clips and for each word: how many only one run has right, the P of
                        McNemar's exact test, and the difference with a 95 % interval from a bootstrap
                        of the speakers, or of the clips where no speaker is known.
                        """
                ),
            ],
            "Processing": [SharedOptions.jobs],
        ],
        notes: """
            A file that cannot be read is reported and skipped, and the exit status is
            then 1. Ctrl-C ends without a report.
            """,
        examples: [
            "beckon evaluate speech_commands/ --list speech_commands/testing_list.txt",
            "beckon evaluate -o clips.csv --errors all clips/",
            "beckon evaluate --target 0.5/h --write-config mine.json5 clips/",
            "beckon evaluate --compare before.json after.json",
            "beckon evaluate --stream --html report.html recordings/",
        ]
    )

}
