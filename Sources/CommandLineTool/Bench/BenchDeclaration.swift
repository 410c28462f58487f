import Core
import KernelInterface
private import Spotting

extension Bench: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "bench",
                abstract: "measure speed and latency",
                operands: [Operand(title: "report", completion: .file, repeats: true, isOptional: true)]
            )
        ],
        usage: [
            "beckon bench [OPTION…]", "beckon bench --compare FILE FILE",
            "beckon bench --end-to-end --device NAME --track FILE --stamp PROGRAM", "             [OPTION…]",
            "beckon bench --wyoming N [OPTION…]",
        ],
        discussion: """
            Without any of these it times the stages of the engine on one processor: the
            resampler; a hop of 100 ms through log-mel, network and gate; a whole second;
            and a look of the confirming networks, if the model has some. It does so for
            each kernel set in turn, with the networks' multiply-adds per second and
            their share of the processor's peak with floats. It also reports the memory
            of a stream, and the time from the program's start to its first score.
            """,
        groups: [
            "What to measure": [
                Option(
                    name: "--kernels",
                    short: "-k",
                    value: .list("SET", InstructionSet.self),
                    help: """
                        kernel sets to measure: baseline, dotprod (arm64), avx2, avx512, or scalar, the plain loops that the tests \
                        compare with (default: all that the processor supports, without scalar)
                        """,
                    manual: """
                        If
                        .Ev BECKON_KERNELS
                        names one, it is the default.
                        """
                ),
                Option(
                    name: "--seconds",
                    short: "-s",
                    value: .seconds(0.01...3600, expected: "a time from 0.01 to 3600"),
                    help: "how long to measure (default: 10)"
                ),
                Option(
                    name: "--streams",
                    value: .whole(1...10_000),
                    help: "also measure this many streams, in turn and batched"
                ),
                Option(
                    name: "--first-score",
                    help: "measure one start: load the model, score a hop, print the time and the memory in use",
                    manual: """
                        The output is a JSON object with the time in nanoseconds on the raw monotonic
                        clock, the memory in use in bytes, and the bytes that each further stream takes.
                        The start-up measurement uses it.
                        """
                ),
                Option(
                    name: "--compare",
                    help: "print two reports of --json side by side, with ratios",
                    manual: """
                        The reports are the operands; the ratios are those of the second's medians to
                        the first's.
                        Notes say what makes the two hard to compare.
                        """
                ),
                Option(
                    name: "--end-to-end",
                    help: "from the end of a word in the audio to the start of its action, stage by stage",
                    manual: "It goes through the whole service."
                ),
            ],
            "For --end-to-end, all of which make bench-end-to-end gives": [
                SharedOptions.device(
                    help:
                        "device that plays a recording from its first sample when opened, such as the tests' card"
                ),
                Option(
                    name: "--track",
                    value: .file,
                    help: """
                        label track of the recording: one line per word with start and end in seconds and the \
                        word, separated by tabs
                        """
                ),
                Option(
                    name: "--stamp",
                    value: .text("PROGRAM", "program", .file),
                    help: """
                        program that records when it started, by its full path: it appends a line to the file it \
                        is given, with the value of BECKON_SEQUENCE and the monotonic clock in nanoseconds
                        """
                ),
            ],
            "A wake-word server": [
                Option(
                    name: "--wyoming",
                    value: .whole(1...9000),
                    help: """
                        measure a server with this many connections, which play a recording in real time: the share of \
                        a core that it takes, and the time from a chunk to its detection
                        """,
                    manual: """
                        The server has one thread.
                        The time is counted from the chunk that completes a hop.
                        """
                ),
                Option(
                    name: "--most",
                    help: "also search for the most connections in time: 95 % of the detections within 50 ms"
                ),
                Option(
                    name: "--chunk",
                    value: .whole(1...1000),
                    help: "milliseconds of audio in a chunk (default: 64, as satellites send; Home Assistant: 10)"
                ),
                Option(
                    name: "--file",
                    value: .file,
                    help: "recording to play (default: a word of alsa-utils)",
                    manual: """
                        The default is
                        .Pa /usr/share/sounds/alsa/Front_Left.wav .
                        """
                ),
                Option(
                    name: "--connect",
                    value: .text("ADDRESS", "address"),
                    help: "measure another server, such as tcp://127.0.0.1:10400"
                ),
            ],
            "How to listen, as for listen": [
                SharedOptions.mode(preset: .command), SharedOptions.trigger, SharedOptions.threshold,
                SharedOptions.word, SharedOptions.model, SharedOptions.noConfirm, SharedOptions.channel,
            ],
            "Output": [
                SharedOptions.json(
                    help: "print one JSON object; times in microseconds, with --end-to-end in milliseconds"
                )
            ],
        ],
        notes: """
            Exit status: 0 if everything was measured; 1 if something failed, no word was
            detected or audio was lost; 130 after Ctrl-C, with nothing printed.
            """,
        examples: [
            "beckon bench", "beckon bench --json > before.json", "beckon bench --compare before.json after.json",
            "beckon bench --wyoming 500 --most",
        ]
    )
}
