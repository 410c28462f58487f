extension Doctor: Command {
    static let declaration = CommandDeclaration(
        names: [CommandName(name: "doctor", abstract: "find what prevents this machine from listening well")],
        usage: ["beckon doctor [OPTION…]"],
        discussion: """
            Checks the configuration, the model and its speed, the service, permissions
            and limits, the devices and who holds them, and listens for four seconds, and
            two more where there are several channels: say something then. One line per
            check: ok, warning or error and what it means, with the remedy below it. The
            last lines say what to do next, and where symptoms are described.
            """,
        groups: [
            "Options": [
                SharedOptions.device(
                    help:
                        "capture device: a name that beckon devices lists, or auto (default: the configuration's)"
                ),
                SharedOptions.instance,
                SharedOptions.configuration(help: "configuration (default: the one that the service reads)"),
                Option(
                    name: "--model",
                    short: "-m",
                    value: .model,
                    help: "model folder (default: the configuration's)"
                ),
                Option(
                    name: "--echo",
                    help: "also play a test sound of ten seconds, and say how much of its echo is removed"
                ),
                Option(
                    name: "--report",
                    help: "also write beckon-report.txt, for a report of a fault: without names, addresses and secrets"
                ),
                SharedOptions.json(help: "print one JSON object per line, with check, grade, text and remedy"),
            ]
        ],
        notes: "Exit status: 0 if beckon can listen, 1 if there is an error."
    )
}
