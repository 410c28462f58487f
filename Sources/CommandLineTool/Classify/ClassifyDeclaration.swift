private import Core
private import FoundationEssentials
private import Spotting

extension Classify: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "classify",
                abstract: "find spoken words in audio files, with their times",
                operands: [Operand("file", .file, repeats: true)]
            )
        ],
        abstract: "find spoken words in audio files, with their times",
        usage: ["beckon classify [OPTION…] FILE|DIR…", "… | beckon classify [OPTION…] -"],
        discussion: """
            Files: WAV, FLAC, Ogg Vorbis, Opus, MP3, AIFF and others that libsndfile
            reads; 8 to 192 kHz, 1 to 8 channels. Folders are searched for audio files.
            - is the audio on standard input, up to its end.
            """,
        groups: [
            OptionGroup(
                "What to find",
                [
                    Option(
                        "--clips",
                        help: "one label per file, for recordings of one second (of a longer one, its loudest second)",
                        manual: """
                            Gives one label per file, for recordings of one second; of a longer one, its
                            loudest second counts.
                            """
                    ),
                    SharedOptions.sensitivity, SharedOptions.threshold, SharedOptions.word, SharedOptions.phrase,
                    SharedOptions.mode(preset: .spot), SharedOptions.trigger, SharedOptions.model, SharedOptions.words,
                    SharedOptions.channel,
                ]
            ),
            OptionGroup(
                "Output",
                [
                    SharedOptions.jsonLines,
                    Option(
                        "--format",
                        short: "-f",
                        .choice("NAME", ClassifyOptions.Format.self) { format in
                            switch format {
                            case .table: "columns for reading (default)"
                            case .json: "as --json"
                            case .csv: "comma-separated values with a header line"
                            case .audacity: "a label track; for several files with --output"
                            }
                        },
                        help: "output format",
                        manual: """
                            .Cm table
                            (the default),
                            .Cm json ,
                            .Cm csv ,
                            or
                            .Cm audacity ,
                            a label track.
                            """
                    ),
                    Option(
                        "--output",
                        short: "-o",
                        .folder,
                        help: "folder for label tracks, one per file",
                        manual: "The folder for the label tracks of several files, one per file."
                    ),
                    Option(
                        "--stats",
                        help: "print statistics at the end: audio length, time taken, speed",
                        manual: "Prints the audio's length, the time taken and the speed at the end."
                    ),
                ]
            ),
            OptionGroup(
                "Where the audio comes from",
                [
                    Option(
                        "--files-from",
                        .file,
                        help: "also the files named in this list, one per line; - for standard input",
                        manual: """
                            Also reads the files named in this list, one per line, or on standard input with
                            .Ql - .
                            """
                    ),
                    Option(
                        "--null",
                        short: "-0",
                        help: "names of --files-from end with NUL",
                        manual: """
                            The names of
                            .Fl -files-from
                            end with NUL, as
                            .Ql find -print0
                            writes them.
                            """
                    ),
                    SharedOptions.raw,
                ]
            ),
            OptionGroup("Processing", [SharedOptions.jobs]),
        ],
        notes: """
            A file that cannot be read is reported and skipped; the others are still
            done, and the exit status is then 1. Ctrl-C keeps what was printed.
            """,
        examples: [
            "beckon classify recording.flac", "beckon classify --json --word stop=0.9 recordings/",
            "beckon classify --format audacity talk.wav > talk.txt",
            "arecord -d 5 -f S16_LE -r 16000 -t raw | beckon classify --raw 16000,1,s16 -",
            "find . -name '*.wav' -print0 | beckon classify -0 --files-from -",
        ]
    )

    init(_ arguments: Arguments) throws {
        try self.init(ClassifyOptions(arguments, processors: ProcessInfo.processInfo.activeProcessorCount))
    }
}
