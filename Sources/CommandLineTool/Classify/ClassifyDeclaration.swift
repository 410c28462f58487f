private import Core
private import Spotting

extension Classify: Command {
    /// What other programs call the formats.
    private static let formats = [
        "jsonl": "json", "ndjson": "json", "jsonlines": "json", "tsv": "csv", "excel": "csv", "text": "table",
        "txt": "table",
        "labels": "audacity", "label": "audacity", "tracks": "audacity",
    ]

    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "classify",
                abstract: "find spoken words in audio files, with their times",
                operands: [Operand(title: "file", completion: .file, repeats: true)]
            )
        ],
        usage: [
            "beckon classify [OPTION…] FILE|DIR…", "… | beckon classify [OPTION…] -",
            "beckon classify [OPTION…] --worker",
        ],
        discussion: """
            Files: WAV, FLAC, Ogg Vorbis, Opus, MP3, AIFF and others that libsndfile
            reads; 8 to 192 kHz, 1 to 8 channels. Folders are searched for audio files.
            - is the audio on standard input, up to its end.
            """,
        groups: [
            "What to find": [
                Option(
                    name: "--clips",
                    help: "one label per file, for recordings of one second (of a longer one, its loudest second)"
                ),
                SharedOptions.sensitivity, SharedOptions.threshold, SharedOptions.word, SharedOptions.phrase,
                SharedOptions.mode(preset: .spot), SharedOptions.trigger, SharedOptions.model, SharedOptions.noConfirm,
                SharedOptions.words, SharedOptions.wakeWord,
                SharedOptions.channel, SharedOptions.echoReference,
            ],
            "Output": [
                SharedOptions.jsonLines, Option(name: "--csv", help: "print comma-separated values with a header line"),
                Option(
                    name: "--format",
                    short: "-f",
                    value: .choice("NAME", ClassifyOptions.Format.self, synonyms: Self.formats) { format in
                        switch format {
                        case .table: "columns for reading (default)"
                        case .json: "as --json"
                        case .csv: "as --csv"
                        case .records: "one JSON object per file, with its events or its error"
                        case .audacity: "a label track; for several files with --output"
                        }
                    },
                    help: "output format",
                    manual: """
                        The default is
                        .Cm table .
                        """
                ),
                Option(
                    name: "--output",
                    short: "-o",
                    value: .text("PATH", "path", .file),
                    help: "file for the results, with a journal beside it; of label tracks, the folder",
                    manual: """
                        Without an option for the format, a name that ends in
                        .Pa .csv ,
                        .Pa .json ,
                        .Pa .jsonl
                        or
                        .Pa .ndjson
                        selects it.
                        An existing file is replaced.
                        The journal,
                        .Pa path Ns .journal ,
                        names the files that are done, for
                        .Fl -resume .
                        """
                ),
                Option(
                    name: "--resume",
                    help: "continue the file of --output after a kill; begins it if there is none",
                    manual: """
                        Files that the journal names are not processed again; results of others
                        are cut off first, so nothing is there twice.
                        The journal is written once a second, after the results are on the disk.
                        The other options must be the same.
                        """
                ),
                Option(name: "--stats", help: "print statistics at the end: audio length, time taken, speed"),
            ],
            "Where the audio comes from": [
                Option(
                    name: "--files-from",
                    value: .file,
                    help: "also the files named in this list, one per line; - for standard input"
                ),
                Option(
                    name: "--null",
                    short: "-0",
                    help: "names of --files-from end with NUL",
                    manual: """
                        So
                        .Ql find -print0
                        writes them.
                        """
                ),
                Option(
                    name: "--shard",
                    value: .shard,
                    help: "only the files whose names hash to part I of N, such as 3/16, for several machines",
                    manual: """
                        A file's part is decided by its name as given, so machines with the same
                        folder each get other files, and together all.
                        """
                ),
                Option(
                    name: "--worker",
                    help: "serve requests on standard input, one JSON line each, and answer with JSON lines",
                    manual: """
                        A request is
                        .Ql {\\(dqfile\\(dq: \\(dqa.wav\\(dq}
                        or
                        .Ql {\\(dqname\\(dq: \\(dqa.wav\\(dq, \\(dqbytes\\(dq: 32044}
                        with so many bytes of audio after the line.
                        It is answered with a line as
                        .Fl -format Cm records ,
                        in order; what cannot be served, with
                        .Ql error .
                        """
                ),
                SharedOptions.raw,
            ],
            "Processing": [SharedOptions.jobs],
        ],
        notes: """
            A file that cannot be read is reported and skipped; the others are still
            done, and the exit status is then 1. Ctrl-C keeps what was printed.
            For folders of millions, several machines and engines such as Spark, see
            docs/corpora.md.
            """,
        examples: [
            "beckon classify recording.flac", "beckon classify --json --word stop=0.9 recordings/",
            "beckon classify --format audacity talk.wav > talk.txt",
            "arecord -d 5 -f S16_LE -r 16000 -t raw | beckon classify --raw 16000,1,s16 -",
            "find . -name '*.wav' -print0 | beckon classify -0 --files-from -",
            "beckon classify -o words.csv recordings/",
            "beckon classify --json --output words.json --resume archive/",
        ]
    )

}
