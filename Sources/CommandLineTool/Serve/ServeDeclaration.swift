private import Core
import Network
import System

extension Serve: Command {
    static let declaration = CommandDeclaration(
        names: [CommandName(name: "serve", abstract: "detect words for Home Assistant and satellites")],
        abstract: "detect words for Home Assistant and satellites, over the network",
        usage: ["beckon serve [OPTION…]"],
        discussion: """
            A wake-word server that speaks Wyoming, the voice protocol of Home Assistant:
            it gets audio over any number of connections, and answers with the words that
            it finds, also within speech. It needs no microphone. The protocol has no
            password, so it listens on this machine only unless --listen says otherwise.
            beckon listen does the same beside a microphone, if the configuration has the
            key wyoming.
            """,
        groups: [
            "Where to listen": [
                Option(
                    name: "--listen",
                    short: "-l",
                    value: address(like: "tcp://127.0.0.1:10400 or unix:///run/beckon.socket"),
                    repeats: true,
                    help: """
                        address of the server, such as tcp://0.0.0.0:10400 for the whole network (default: the \
                        configuration's, else tcp://127.0.0.1:10400); may be repeated
                        """,
                    manual: """
                        The address is
                        .Ql tcp://HOST:PORT
                        with numbers, or
                        .Ql unix:///PATH .
                        The configuration's key is
                        .Va wyoming.listen .
                        """,
                    foreignNames: ["--uri", "--port", "--host", "--bind", "--address"]
                ),
                Option(
                    name: "--web",
                    value: address(like: "tcp://127.0.0.1:10481"),
                    repeats: true,
                    help: """
                        address of the live page of satellites, /metrics, /healthz and /readyz, such as \
                        tcp://127.0.0.1:10481 (default: none); may be repeated
                        """,
                    manual: """
                        The configuration's key
                        .Va web
                        is for the service with a microphone alone.
                        """
                ),
                Option(
                    name: "--connections",
                    value: .whole(1...10_000),
                    help: "most connections at a time (default: the configuration's, else 500)"
                ),
                Option(
                    name: "--threads",
                    value: .whole(1...256),
                    help: "threads that serve clients (default: one per processor)"
                ),
            ],
            "What to find; these override the configuration": [
                SharedOptions.sensitivity, SharedOptions.threshold, SharedOptions.word, SharedOptions.phrase,
                SharedOptions.trigger, SharedOptions.model, SharedOptions.noConfirm, SharedOptions.words,
                SharedOptions.wakeWord,
                Option(
                    name: "--only-wake-words",
                    help: "find no other words than wake words with models of their own"
                ),
                Option(
                    name: "--trigger-level",
                    value: .whole(1...255),
                    help: """
                        scores above the threshold, one each 80 ms, before a word of openWakeWord counts (default: its \
                        manifest's, else 1)
                        """
                ),
                Option(
                    name: "--refractory",
                    value: .seconds(0...60, expected: "seconds from 0 to 60"),
                    help:
                        "shortest time between two detections of a word (default: the configuration's, else 0.7 seconds)",
                    manual: """
                        The configuration's key is
                        .Va gate.refractory .
                        """,
                    foreignNames: ["--refractory-seconds"]
                ),
                SharedOptions.configuration(help: "configuration with words and addresses (default: as for listen)"),
            ],
        ],
        notes: """
            Signals: SIGHUP reads the configuration again; taught words are noticed by
            themselves. SIGTERM and Ctrl-C end it.

            Exit status: 78 if the configuration is invalid, or the model or a word that
            it or an option names; otherwise as for all commands, see beckon help.
            """,
        examples: [
            "beckon serve", "beckon serve --listen tcp://0.0.0.0:10400 --sensitivity strict",
            "beckon serve --wake-word okay_nabu --wake-word models/ --only-wake-words",
            "beckon serve --listen unix:///run/user/1000/beckon.socket",
        ]
    )

    private static func address(like example: String) -> OptionValue {
        OptionValue(
            placeholder: "ADDRESS",
            title: "address",
            completion: .nothing,
            expected: "an address such as \(example)",
            accepts: { (try? ListenAddress($0)) != nil },
            suggests: { ListenAddress.meant(by: $0)?.description }
        )
    }
}
