/// The texts of `beckon help`; every line fits 80 columns, which a test holds them to.
enum HelpText {
    static let overview = """
        beckon — listens for spoken words

        Usage: beckon COMMAND [OPTION…]

        Commands:
          listen      say which words a microphone hears, and act on them
          classify    say which words are spoken in audio files, and when
          enroll      teach a word of your own, from a few takes
          words       list your own words, export and import them; forget
                      takes one away
          record      collect a dataset of spoken words
          evaluate    measure how well a model hears
          inspect     show what the model sees of a recording, as a page
          devices     list microphones and other capture devices
          config      check the service's configuration, or print it
          doctor      say what keeps this machine from listening well
          bench       measure how quick it all is
          status      ask the service that runs how it is, and likewise
                      mute, unmute, reload, set, events
          help        explain a command: beckon help classify

        Options:
          --version   print the version
          -h, --help  print this text

        Exit status: 0 when all went well, 1 when something failed (one line on
        standard error says what), 2 for a command line that cannot be understood,
        130 after Ctrl-C.

        """

    static let listen = """
        beckon listen — say which words a microphone hears, and act on them

        Usage: beckon listen [OPTION…]

        On a terminal it shows the level, what each class has by now, and the words
        heard; elsewhere a line a word. Ctrl-C ends it. A microphone that is missing,
        busy or pulled out is waited for. As a service it is started by systemd:
        systemctl start beckon.

        What to listen to:
          -d, --device NAME   a name that beckon devices lists, or auto (default)
        \(OptionHelp.channel)
          --file FILE         play a file as if it came from a microphone, and end

        What to find; these replace what the configuration says:
        \(OptionHelp.threshold)
        \(OptionHelp.word)
        \(OptionHelp.phrase)
          --mode MODE         command: only words said alone (default)
                              spot: words anywhere, inside talk too
        \(OptionHelp.trigger)
        \(OptionHelp.model)
        \(OptionHelp.words)

        What to do with it:
          -c, --config FILE   configuration with words and actions (default:
                              ~/.config/beckon/config.json5, then
                              /etc/beckon/config.json5, where there is one)
        \(OptionHelp.jsonLines)
          --record FILE       also write what is heard, as WAV of 16 kHz

        Signals: SIGHUP reads the configuration again, SIGUSR1 mutes and unmutes.
        beckon status, mute, unmute, reload, set and events do the same and more.

        Exit status: 78 where the configuration is wrong, or the model or a word that
        it or an option names; otherwise as for all commands, see beckon help.

        Examples:
          beckon listen
          beckon listen --device hw:CARD=Device,DEV=0 --word stop=0.9
          beckon listen --file talk.wav --json

        """

    static let classify = """
        beckon classify — say which words are spoken in audio files, and when

        Usage: beckon classify [OPTION…] FILE|DIR…
               find … -print0 | beckon classify -0 -

        Files: WAV, FLAC, Ogg Vorbis, Opus, MP3, AIFF and others that libsndfile
        reads; 8 to 192 kHz, 1 to 8 channels. Folders are searched for audio files.
        With - the names come from standard input, one a line.

        What to find:
          --clips             one label a file, for recordings of one second
                              (of a longer one, its loudest second)
        \(OptionHelp.threshold)
        \(OptionHelp.word)
        \(OptionHelp.phrase)
          --mode MODE         spot: words anywhere, inside talk too (default)
                              command: only words said alone, after a pause
        \(OptionHelp.trigger)
        \(OptionHelp.model)
        \(OptionHelp.words)
        \(OptionHelp.channel)

        How to print it:
        \(OptionHelp.jsonLines)
          -f, --format NAME   table (default), json, csv, or audacity: a label
                              track; for several files with --output
          -o, --output DIR    folder for label tracks, one a file
          --stats             afterwards, audio length, time and speed

        How to work:
        \(OptionHelp.jobs)
          -0, --null          names on standard input end with NUL

        A file that cannot be read is reported and left out; the others are still
        done, and the exit status is then 1. Ctrl-C keeps what was printed.

        Examples:
          beckon classify recording.flac
          beckon classify --json --word stop=0.9 recordings/
          beckon classify --format audacity talk.wav > talk.txt

        """

    static let evaluate = """
        beckon evaluate — measure how well a model hears

        Usage: beckon evaluate [OPTION…] DIR
               beckon evaluate --stream [OPTION…] FILE|DIR…

        DIR holds clips of one second in folders by what is said in them, as in
        Speech Commands: yes/1.wav, no/2.flac, … A folder called like a word of the
        model is that word; _silence_ and silence are silence, as are the long
        recordings in _background_noise_, second by second; all others are unknown.

        With --stream the files are long recordings, each with a label track beside
        it as Audacity exports it (talk.wav and talk.txt): a line a word with start
        and end in seconds and the word, tabs between. Words that the model does not
        know are other speech. An empty track says that no word is spoken.

        What to measure:
          --list FILE         only the clips named there, one a line, such as the
                              dataset's validation_list.txt
          --stream            long recordings, through the whole detector
          --tolerance S       seconds after its end in which a word may still be
                              decided (default: 1)
          --mode MODE         only spot or only command (default: both)
          --trigger WHEN      early (default) or end, as for classify
        \(OptionHelp.hearing)
        \(OptionHelp.words)

        How to print it:
          --json              everything as one JSON object, curves included
          --html FILE         also write a report with charts

        How to work:
        \(OptionHelp.jobs)

        A file that cannot be read is reported and left out, and the exit status is
        then 1. Ctrl-C ends without a report.

        Examples:
          beckon evaluate speech_commands/ --list speech_commands/testing_list.txt
          beckon evaluate --stream --html report.html recordings/

        """

    static let inspect = """
        beckon inspect — show what the model sees of a recording, as a page

        Usage: beckon inspect [OPTION…] FILE

        Writes one HTML page that needs nothing else: what is right and wrong with
        the recording and what to do about it; the sound, the picture of it that the
        network gets, the score of every class and the gate's state over time; and
        the words that were heard.

        What to show:
          --from SECONDS      begin here
          --to SECONDS        end here; a report shows at most five minutes

        How to listen, as for classify:
          --mode MODE         spot (default) or command
        \(OptionHelp.shortTrigger)
        \(OptionHelp.hearing)
        \(OptionHelp.words)

        How to print it:
          -o, --output FILE   the page to write, or - for standard output (default:
                              FILE's name ending in .html, in the current folder)
          --json              everything as one JSON object on standard output,
                              and no page

        Where a file is damaged, the page shows what comes before, and the exit
        status is 1.

        Examples:
          beckon inspect recording.flac
          beckon inspect --from 60 --to 75 --mode command -o talk.html talk.wav

        """
}
