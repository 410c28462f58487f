/// The texts of the commands around the service and the machine it runs on.
extension HelpText {
    static let devices = """
        beckon devices — list microphones and other capture devices

        Usage: beckon devices [--json]

        One line for each device that captures: the cards' own, by names that stay
        the same whatever else is plugged in, and those that ALSA's configuration
        names, such as a sound server's. For a device that is free, what it can do
        by itself, without ALSA converting: sample rates, channels, formats. For one
        that is in use, by which program. Devices are asked, not started.

        The one marked with a star is what auto means: the sound server's default
        where there is one, else the first card that captures, a USB microphone
        before others.

        \(OptionHelp.jsonLines)

        With no device at all, one line says where it was looked and what to do, and
        the exit status is 1.

        """

    static let config = """
        beckon config — check the service's configuration, or print it

        Usage: beckon config check [FILE]
               beckon config show [FILE]

        Without FILE it is the one that the service would read: the user's own,
        ~/.config/beckon/config.json5, where there is one, else the system's,
        /etc/beckon/config.json5. It is JSON with comments; the sample explains every
        key.

          check    tell everything that is wrong, a line each: file, line, key, what
                   was expected. Programs that are missing are warned of.
          show     print what applies, every key with its value, as one JSON object

        Exit status: 0 when the configuration is sound, 1 when it is not.

        """

    static let doctor = """
        beckon doctor — say what keeps this machine from listening well

        Usage: beckon doctor [OPTION…]

        Looks at the configuration, the model and how long it takes, the service,
        permissions and limits, the devices and who holds them, and listens for four
        seconds, and two more where there are several channels: say something then. A
        line for each thing: ok, warning or error, what it means, and below it what to
        do.

          -d, --device NAME   a name that beckon devices lists, or auto (default: what
                              the configuration says)
          -c, --config FILE   the configuration (default: what the service reads)
          -m, --model DIR     model folder (default: what the configuration says)
          --json              one JSON object a line: check, grade, text, remedy

        Exit status: 0 when beckon can listen, 1 when there is an error.

        """

    static let bench = """
        beckon bench — measure how quick it all is

        Usage: beckon bench [OPTION…]
               beckon bench --compare FILE FILE
               beckon bench --end-to-end --device NAME --track FILE --stamp PROGRAM
                            [OPTION…]

        Without any of these it times the stages of the engine on one processor: the
        resampler, a hop of 100 ms through log-mel, network and gate, and a whole
        second, by each set of kernels in turn, with the network's multiply-adds a
        second and their share of what the processor can do at most. It also tells
        the memory of a stream, and how long the program takes to its first score.

          -k, --kernels SET,… baseline, avx2, avx512, or the plain loops that the
                              tests compare with: scalar (default: all that the
                              processor has but scalar)
          -s, --seconds S     how long to measure (default: 10)
          --streams N         also N streams at once: one after the other, and batched
          --first-score       only load the model, score a hop, and print when and
                              with what memory: what the start-up is timed by
          --compare           two reports of --json side by side, with ratios
          --end-to-end        from the end of a word in the audio to the start of its
                              action, stage by stage, through all that the service
                              does

        For --end-to-end, which make bench-end-to-end calls with all of it:
          -d, --device NAME   a device that plays a recording from its first sample
                              on when it is opened, such as the tests' card
          --track FILE        label track of the recording: a line a word with start
                              and end in seconds and the word, tabs between
          --stamp PROGRAM     appends a line to the file that it is given: the value
                              of BECKON_SEQUENCE, and the monotonic clock in
                              nanoseconds when it began; by its full path

        How to listen, as for listen:
          --mode MODE         command (default) or spot
        \(OptionHelp.shortTrigger)
        \(OptionHelp.hearing)

        How to print it:
          --json              one JSON object; times in microseconds, with
                              --end-to-end in milliseconds

        Exit status: 0 when all was measured; 1 when something failed, no word was
        heard or audio was lost; 130 after Ctrl-C, with nothing printed.

        Examples:
          beckon bench
          beckon bench --json > before.json
          beckon bench --compare before.json after.json

        """

    static let control = """
        beckon status, mute, unmute, reload, set, events — talk to the service

        Usage: beckon status|mute|unmute|reload|events [OPTION…]
               beckon set [OPTION…] WORD=T…

          status    how the service is: what it listens to, what it has heard
          mute      close the microphone; unmute opens it again
          reload    read the configuration again; if it is wrong, the old one stays
          set       give words other thresholds until the next reload
          events    print every event as a JSON line, until Ctrl-C

        Options:
          --socket PATH   the service's socket (default: BECKON_SOCKET, the user's own
                          service where it runs, else /run/beckon/control.socket)
          --json          print the answer as it comes, as one JSON object

        Exit status: 0 when it was done, 1 when the service refused or does not run.

        Examples:
          beckon set yes=0.7 no=0.85
          beckon events | grep '"word": "stop"'

        """
}
