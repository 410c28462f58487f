private import Control
private import System

extension ControlVerb: Command {
    /// For all commands that ask the service.
    static let socketOption = Option(
        name: "--socket",
        value: .text("PATH", "path", .file),
        help: """
            control socket of the service (default: $BECKON_SOCKET, else the user's own service if it \
            runs, else /run/beckon/control.socket)
            """
    )

    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "status",
                abstract: "print the service's state",
                help: "print state, device, words, confirm, last word, version; all counts with --json",
                manual: """
                    With
                    .Fl -json
                    also the thresholds and what was counted and lost:
                    .Ql hopMilliseconds
                    is the longest and the mean time that a step of the network took, of the 100 ms
                    that there are for each;
                    .Ql lateHops
                    took longer, and
                    .Ql droppedBlocks
                    of 100 ms were skipped because the detector was behind.
                    .Ql confirm
                    says whether further networks confirm words
                    .Pq Ql on , Ql off , No or Ql none No if the model has no such networks ;
                    .Ql looks
                    counts proposed words that they looked at,
                    .Ql refusedLooks
                    those of them after which no word was found, and
                    .Ql lookMilliseconds
                    has the longest time of a step with a look.
                    .Ql audio
                    is what became of all audio since the first frame, in seconds: heard, on
                    its way, or lost, by the cause.
                    """
            ),
            CommandName(
                name: "mute",
                abstract: "close the microphone",
                manual: "It is off then, and other programs can use it."
            ),
            CommandName(name: "unmute", abstract: "open the microphone again"),
            CommandName(
                name: "reload",
                abstract: "read the configuration again",
                help: "read the configuration again; if it is invalid, the old one stays in force",
                manual: "No audio is lost."
            ),
            CommandName(
                name: "set",
                abstract: "change the thresholds of words",
                operands: [Operand(title: "word", completion: .setting, repeats: true)],
                help: "change thresholds, or the sensitivity of all words; a reload keeps them",
                manual: """
                    A confidence is such as
                    .Ql yes=0.7 ,
                    a sensitivity such as
                    .Ql yes=strict .
                    .Cm set sensitivity eager
                    changes all words that have no threshold or sensitivity of their own, and says
                    which have.
                    A change lasts until the service ends, the same is set again, or a reload
                    brings another threshold or sensitivity for these words.
                    """
            ),
            CommandName(
                name: "talk",
                abstract: "give Home Assistant a command without a word, as a button does",
                operands: [
                    Operand(title: "step", completion: .names(TalkStep.allCases.map(\.rawValue)), isOptional: true)
                ],
                help: "what is said now is a command; end, stop or toggle for buttons",
                manual: """
                    It needs the voice satellite, the key
                    .Va esphome
                    of the configuration.
                    .Cm start ,
                    the default, ends an answer or a ringing timer, and sends what is said from
                    now on.
                    .Cm end
                    says that the command is complete, when a button is released;
                    .Cm stop
                    ends whatever the assistant does;
                    .Cm toggle
                    does one or the other, for a single button.
                    """
            ),
            CommandName(
                name: "events",
                abstract: "print every event as a JSON line",
                help: "print every event as a JSON line, until Ctrl-C",
                manual: """
                    If the service ends, so does this, with status 1, unless
                    .Fl -reconnect
                    is given.
                    """
            ),
        ],
        abstract: "talk to the service",
        usage: [
            "beckon status|mute|unmute|reload [OPTION…]", "beckon talk [start|end|stop|toggle] [OPTION…]",
            "beckon events [--reconnect|--since TIME] [OPTION…]",
            "beckon set [OPTION…] [sensitivity NAME] [WORD=T…]",
        ],
        groups: [
            "Options": [
                SharedOptions.instance, socketOption,
                Option(
                    name: "--reconnect",
                    help: "wait for the service where it does not run, and go on when it starts again; events only"
                ),
                Option(
                    name: "--since",
                    value: OptionValue(
                        placeholder: "TIME",
                        title: "time",
                        completion: .nothing,
                        expected: Timestamp.expectedPast,
                        accepts: { Timestamp(past: $0, now: .now) != nil }
                    ),
                    help: "print the events since then, and end; events only",
                    manual: """
                        How long ago
                        .Pq Ql 2h , 3d ,
                        a time of day, a date, both, or
                        .Ql yesterday .
                        They are read from the system's journal, of all services unless
                        .Fl -instance
                        names one, or where it has none from the recent words that the service keeps
                        .Pq Va misses ;
                        standard error says from which.
                        """
                ),
                Option(name: "--once", help: "print the first word or phrase, and end; events only"),
                Option(
                    name: "--seconds",
                    value: .seconds(0.1...1e7, expected: "seconds of at least 0.1, such as 5"),
                    help: "end after this time; events only"
                ),
                Option(
                    name: "--words",
                    value: OptionValue(
                        placeholder: "W,…",
                        title: "words",
                        synopsis: "Ar word , Ns Ar ...",
                        completion: .list(completionWords),
                        expected: "words with commas between, such as yes,no",
                        accepts: { !$0.isEmpty }
                    ),
                    help: "print only these words and phrases; events only",
                    manual: "What the service detects, and its actions, stay as they are."
                ),
                SharedOptions.json(help: "print the answer unchanged, as one JSON object"),
            ]
        ],
        notes: """
            Exit status: 0 on success, 1 if the service refused or does not run; with --once
            or --seconds 3 if no word came.
            """,
        examples: [
            "beckon set yes=0.7 no=strict", "beckon set sensitivity eager", "beckon events | grep '\"word\": \"stop\"'",
            "beckon events --once --words yes,no --seconds 5", "beckon events --since yesterday",
        ],
        needsService: true
    )
}
