private import Enrollment

extension Enroll: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "enroll",
                abstract: "teach a new word from a few takes",
                operands: [
                    Operand(title: "word", completion: .taughtWord, after: "--more"),
                    Operand(title: "file", completion: .file, repeats: true, isOptional: true, after: "--from"),
                ]
            )
        ],
        abstract: "teach a new word",
        usage: [
            "beckon enroll WORD [OPTION…]", "beckon enroll WORD --from FILE|DIR…", "beckon enroll WORD --typed",
            "beckon enroll WORD --not CLIP",
        ],
        discussion: """
            Asks for the word a few times and stores an embedding of each take; three to
            five takes are enough. WORD is any text; an utterance may last up to two
            seconds, such as "hey house". Takes that are too quiet, clipped, cut off, too long,
            unlike the others, nothing like the name or copies of another one are rejected, with the reason. On a
            terminal, p plays the last take (by aplay) and r takes it again. At the end it
            estimates how often the word will be missed, and how often ordinary speech will
            trigger it. Takes are best said by the people who will use the word: synthetic
            voices are recognized less than people.

            The word is then detected like those of the model: by listen, classify,
            inspect and the service, which loads it by itself. Teaching a word that the
            model already has makes that word work in your voice too; takes that sound
            nothing like it are rejected. A word that sounds like another one, of yours or of
            the model's, is refused, because each would be found in place of the other.

            Without a terminal it ends after a minute (15 s for each take, if that is more)
            with an error, if not all takes were recorded.
            """,
        groups: [
            "What to learn from": [
                SharedOptions.microphone, SharedOptions.deviceConfiguration, SharedOptions.instance,
                SharedOptions.channel,
                Option(
                    name: "--takes",
                    short: "-n",
                    value: .whole(1...20),
                    help: "takes to ask for (default: \(Teaching.defaultTakes))",
                    manual: "At most 20."
                ),
                Option(
                    name: "--from",
                    value: OptionValue(
                        placeholder: "FILE",
                        title: "file",
                        synopsis: "Ar file | folder ...",
                        completion: .file,
                        expected: "a file",
                        accepts: { _ in true }
                    ),
                    repeats: true,
                    help: """
                        learn from recordings, or folders of them; each may hold several takes, half a second apart
                        """
                ),
                Option(
                    name: "--typed",
                    help:
                        "the name of the word is enough, and how it is pronounced; with --from or --takes, beside these",
                    manual: """
                        Works for names of English that are long enough, such as "hey house".
                        It says how the name is pronounced, how often it will be found
                        and how many false accepts to expect.
                        A name that talk sounds like too often is refused.
                        With takes the word is found by these too, more often than by either;
                        a taught word gets the sounds of its name.
                        """
                ),
                Option(
                    name: "--sounds",
                    value: .text("IPA", "sounds"),
                    repeats: true,
                    help:
                        "how a typed word is said, in IPA or ARPAbet, in place of what its spelling gives; several are allowed"
                ),
                Option(
                    name: "--play",
                    help: "play how a typed word is pronounced",
                    manual: "By espeak-ng or flite, the first that is installed, and aplay of alsa-utils."
                ),
                Option(
                    name: "--not",
                    value: .text("CLIP", "clip", .file),
                    repeats: true,
                    help: """
                        a recording in which this taught word was found by mistake, or its number in beckon misses; it is not \
                        found there any more
                        """,
                    manual: """
                        From then on the word is not found where the audio is more like this recording
                        than like the takes.
                        Refused, with the reason, if a take would not be found any more either.
                        Words that the model knows by itself have no negatives; raise their threshold.
                        """
                ),
            ],
            "What to keep": [
                Option(name: "--more", help: "add takes to a word that was taught before"),
                Option(
                    name: "--force",
                    help:
                        "teach it although it sounds like another word, or unlike its name",
                    manual: "Words that sound alike suffer: each is often found in place of the other."
                ),
                Option(
                    name: "--no-audio",
                    help: "do not keep the recordings; the word must be taught again for another model",
                    manual: "They are kept so that another model can learn the word from them."
                ),
                SharedOptions.wordsFile(
                    .file,
                    help: "file to keep the word in (default: $BECKON_WORDS, or see beckon help words)",
                    manual: "It is created if it does not exist."
                ),
                SharedOptions.model,
                SharedOptions.json(help: "print the result as one JSON object"),
            ],
        ],
        notes: """
            Exit status: 0 if the word was taught, 1 if it was refused, no take could be used or a file
            could not be read, 130 after Ctrl-C, with nothing changed.
            """,
        examples: [
            "beckon enroll computer", "beckon enroll \"hey house\" --from takes/", "beckon enroll computer --more",
            "beckon enroll computer --not 12", "beckon enroll \"hey house\" --typed",
            "beckon enroll \"hey house\" --typed --from take.wav",
        ]
    )
}
