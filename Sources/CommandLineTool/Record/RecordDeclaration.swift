extension Record: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "record",
                abstract: "collect a dataset of spoken words",
                operands: [Operand(title: "folder", completion: .folder)]
            )
        ],
        usage: ["beckon record --label WORD --speaker NAME [OPTION…] DIR"],
        discussion: """
            Listens, and writes each spoken word to a file of its own: one second at
            16 kHz with the word in the middle, in DIR/WORD/NAME_nohash_N.wav, which is
            the layout of Speech Commands that beckon evaluate and the training read.
            Takes that are too quiet, clipped, cut off or longer than a second are
            rejected, with the reason. N continues after the highest number that exists;
            no file is replaced.
            """,
        groups: [
            "What to write": [
                Option(name: "--label", short: "-l", value: .text("WORD", "word"), help: "what is said, one word"),
                Option(
                    name: "--speaker",
                    short: "-s",
                    value: .text("NAME", "name"),
                    help: "who says it; a dataset is split by speakers"
                ),
                Option(
                    name: "--count",
                    short: "-n",
                    value: .whole(1...100_000),
                    help: "stop after this many clips (default: at Ctrl-C)"
                ),
            ],
            "What to listen to": [
                SharedOptions.microphone, SharedOptions.deviceConfiguration, SharedOptions.instance,
                SharedOptions.channel,
                SharedOptions.file, SharedOptions.model,
            ],
        ],
        notes: "Exit status: 0 if a clip was written, or the file was played to its end.",
        examples: ["beckon record --label computer --speaker ada dataset/"]
    )
}
