/// The texts of the commands around the user's own words.
extension HelpText {
    static let enroll = """
        beckon enroll — teach a word of your own

        Usage: beckon enroll WORD [OPTION…]
               beckon enroll WORD --from FILE|DIR…

        Asks for the word a few times and remembers how it sounds; three to five takes
        are enough. WORD is any text; what is said may last up to two seconds, such as
        "hey house". Takes that are too quiet, clipped, cut off, too long or unlike
        the others are left out, and it is said why. At the end it tells how often the
        word will be missed, and how often it will be heard in ordinary talk.

        The word is then heard like those of the model: by listen, classify, inspect
        and the service, which takes it up by itself. The name of one of the model's
        words makes that word known in your voice too.

        What to learn from:
          -d, --device NAME   a name that beckon devices lists, or auto (default)
          -c, --config FILE   configuration that names the device (default: the
                              service's)
        \(OptionHelp.channel)
          -n, --takes N       takes to ask for (default: 4)
          --from FILE         recordings instead, or folders of them; each may hold
                              several takes, half a second apart

        What to keep:
          --more              add takes to a word that was taught before
          --no-audio          do not keep the recordings; another model must then be
                              taught anew
        \(OptionHelp.words)
        \(OptionHelp.model)
          --json              what came of it, as one JSON object

        Exit status: 0 when the word was taught, 1 when no take could be used or a
        file could not be read, 130 after Ctrl-C, with nothing changed.

        Examples:
          beckon enroll computer
          beckon enroll "hey house" --from takes/
          beckon enroll computer --more

        """

    static let record = """
        beckon record — collect a dataset of spoken words

        Usage: beckon record --label WORD --speaker NAME [OPTION…] DIR

        Listens, and writes each word said to a file of its own: a second of 16 kHz,
        the word in its middle, in DIR/WORD/NAME_nohash_N.wav, which is how Speech
        Commands is laid out and how beckon evaluate and the training want it. Takes
        that are too quiet, clipped, cut off or longer than a second are left out, and
        it is said why. N goes on from the highest there is; nothing is replaced.

        What to write:
          -l, --label WORD    what is said, one word
          -s, --speaker NAME  who says it; a dataset is split by speakers
          -n, --count N       end after so many (default: at Ctrl-C)

        What to listen to:
          -d, --device NAME   a name that beckon devices lists, or auto (default)
          -c, --config FILE   configuration that names the device (default: the
                              service's)
        \(OptionHelp.channel)
          --file FILE         play a file as if it came from a microphone, and end
        \(OptionHelp.model)

        Exit status: 0 when something was written, or the file was heard to its end.

        Example:
          beckon record --label computer --speaker ada dataset/

        """

    static let words = """
        beckon words, forget — your own words

        Usage: beckon words [--json]
               beckon words export FILE [WORD…]
               beckon words import FILE
               beckon forget WORD…

          words     list the words that were taught
          export    write them, or some, to a file, with the recordings that are kept
          import    take the words of such a file over; nothing is replaced
          forget    take words away, with their recordings

        Options:
        \(OptionHelp.words)
        \(OptionHelp.model)
          --json              one JSON object a line

        Words are kept in one file, $BECKON_WORDS, by default words in
        ~/.local/state/beckon; the service keeps its own in /var/lib/beckon, where
        root teaches it: sudo beckon enroll computer.

        Exit status: 0 when it was done, 1 when it was not; nothing is changed then.

        """
}
