private import Core
private import Spotting

extension Listen: Command {
    static let declaration = CommandDeclaration(
        names: [CommandName(name: "listen", abstract: "detect words from a microphone, and act on them")],
        usage: ["beckon listen [OPTION…]", "… | beckon listen [OPTION…] -"],
        discussion: """
            On a terminal it shows the level with its peak, the three highest classes with
            their thresholds, and the words detected; elsewhere one line per word. Ctrl-C
            ends it. A microphone that is missing, busy or unplugged is waited for. - is
            audio that another program writes to standard input, as WAV or --raw, until
            its end. The service is started by systemd: systemctl start beckon.
            """,
        groups: [
            "What to listen to": [
                SharedOptions.microphone, SharedOptions.channel, SharedOptions.liveEchoReference, SharedOptions.file,
                SharedOptions.raw,
            ],
            "What to find; these override the configuration": [
                SharedOptions.sensitivity, SharedOptions.threshold, SharedOptions.word, SharedOptions.phrase,
                SharedOptions.mode(preset: .command), SharedOptions.trigger, SharedOptions.model,
                SharedOptions.noConfirm,
                SharedOptions.words, SharedOptions.wakeWord,
            ],
            "What to do with it": [
                Option(
                    name: "--run",
                    value: .wordProgram,
                    repeats: true,
                    help: """
                        run this program on the word or phrase, '*' for all, with the word, its confidence and time in \
                        the environment; may be repeated
                        """,
                    manual: """
                        It replaces the actions of the configuration.
                        A program without a slash is looked for in
                        .Ev PATH ;
                        arguments may follow it, with blanks between, and no shell is involved.
                        The variables are those of all actions, such as
                        .Ev BECKON_WORD
                        and
                        .Ev BECKON_CONFIDENCE :
                        see
                        .Xr beckon.conf 5 .
                        """
                ),
                SharedOptions.configuration(
                    help: """
                        configuration with words and actions (default: ~/.config/beckon/config.json5 if it exists, \
                        else /etc/beckon/config.json5 if it exists)
                        """,
                    manual: "Without either the defaults apply."
                ),
                SharedOptions.instance, SharedOptions.jsonLines, SharedOptions.speaker,
                Option(name: "--record", value: .file, help: "also write the audio to a file, as 16 kHz WAV"),
            ],
            "When to end, for scripts": [
                Option(
                    name: "--once",
                    help: "print the first word, or the first phrase of --phrase, and end",
                    manual: """
                        Of words and phrases the name alone is printed, with
                        .Fl -json
                        the event.
                        A wake word, which starts a session, does not end it.
                        """
                ),
                Option(
                    name: "--seconds",
                    value: .seconds(0.1...1e7, expected: "seconds of at least 0.1, such as 5"),
                    help: "end after this time",
                    manual: """
                        With either of both there is no control socket and no integration, but words
                        run their actions.
                        """
                ),
            ],
        ],
        notes: """
            Signals: SIGHUP reads the configuration again, SIGUSR1 mutes and unmutes.
            beckon status, mute, unmute, reload, talk, set and events do the same and more.

            Exit status: with --once or --seconds 3 if no word came; 78 if the configuration is invalid, or the model or a word that
            it or an option names, or a program of --run; otherwise as for all commands, see beckon help.
            """,
        examples: [
            "beckon listen", "beckon listen --device hw:CARD=Device,DEV=0 --word stop=0.9",
            "beckon listen --run stop=/usr/local/bin/pause --run '*=./log-word'",
            "beckon listen --file talk.wav --json",
            "if beckon listen --once --words yes,no --seconds 5; then echo heard; fi",
            "arecord -q -f S16_LE -r 16000 -t raw | beckon listen --raw 16000,1,s16 -",
        ]
    )
}
