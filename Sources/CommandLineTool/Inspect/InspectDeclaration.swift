private import Core
private import Spotting

extension Inspect: Command {
    private static let position = OptionValue.seconds(
        0...1e7,
        expected: "seconds from the file's start, such as 12.5"
    )

    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "inspect",
                abstract: "show how the model scores a recording, as a page",
                operands: [Operand(title: "file", completion: .file, repeats: true)]
            )
        ],
        usage: ["beckon inspect [OPTION…] FILE|DIR…"],
        discussion: """
            Writes one HTML page without external files: problems of the recording and
            their remedies; the waveform, the log-mel spectrogram that the network gets,
            the score of every class and the gate's state over time; what each sound was;
            and the words that were detected.

            Of several recordings, or a folder, it writes a page each into a folder, and
            index.html, which leads to them.
            """,
        groups: [
            "What to show": [
                Option(name: "--from", value: position, help: "begin at this time"),
                Option(name: "--to", value: position, help: "end at this time; a report shows at most five minutes"),
            ],
            "How to listen, as for classify": [
                SharedOptions.mode(preset: .spot), SharedOptions.trigger, SharedOptions.sensitivity,
                SharedOptions.threshold, SharedOptions.word, SharedOptions.model, SharedOptions.noConfirm,
                SharedOptions.channel, SharedOptions.echoReference,
                SharedOptions.words, SharedOptions.wakeWord,
            ],
            "Output": [
                Option(
                    name: "--output",
                    short: "-o",
                    value: .file,
                    help: """
                        page to write, or - for standard output (default: FILE's name ending in .html, in the \
                        current folder); of several recordings, the folder (default: inspect)
                        """,
                    manual: """
                        The page of another recording, and an index that another program wrote, is
                        not replaced, but a number added.
                        """
                ),
                Option(
                    name: "--audio",
                    help: "embed the sound, with a player that moves over the charts (2.6 MB a minute)"
                ),
                SharedOptions.json(help: "print everything as one JSON object per recording, and write no page"),
            ],
            "Processing": [SharedOptions.jobs],
        ],
        notes: """
            A recording that cannot be read is reported and listed in the index; the
            others are still done, and the exit status is then 1. Where a file is
            damaged, the page shows the part before the damage, and the exit status is 1.
            """,
        examples: [
            "beckon inspect recording.flac",
            "beckon inspect --from 60 --to 75 --mode command -o talk.html talk.wav",
            "beckon inspect --audio talk.wav", "beckon inspect --output pages recordings/",
        ]
    )
}
