import Configuration
import Core
import Spotting

/// Options that several commands have, each declared once.
enum SharedOptions {
    static let threshold = Option(
        name: "--threshold",
        short: "-t",
        value: .confidence,
        help: "confidence that every word needs, between 0 and 1",
        manual: "It replaces the model's own thresholds.",
        isForListening: true
    )

    static let sensitivity = Option(
        name: "--sensitivity",
        value: .sensitivity,
        help: "how readily words are found",
        manual: """
            The default is
            .Cm balanced .
            The model's card says how many words are found and how often others are taken
            for one under each.
            A model may lack some of them; it is then an error that names those it has.
            """,
        isForListening: true
    )

    static let word = Option(
        name: "--word",
        short: "-w",
        value: .wordConfidence,
        repeats: true,
        help: "confidence or sensitivity of one word, such as yes=0.7 or yes=strict",
        isForListening: true
    )

    /// - Parameter preset: the mode without the option; nil for both modes in turn.
    static func mode(preset: DetectionMode?) -> Option {
        Option(
            name: "--mode",
            value: .choice("MODE", DetectionMode.self) { mode in
                let meaning =
                    switch mode {
                    case .spot: "words anywhere, also within speech"
                    case .command: "only words said alone, between pauses"
                    }
                return meaning + (mode == preset ? " (default)" : "")
            },
            help: "where words are found" + (preset == nil ? " (default: both modes in turn)" : ""),
            manual: """
                The default is
                .Cm command
                for
                .Cm listen
                and
                .Cm bench ,
                both for
                .Cm evaluate ,
                and
                .Cm spot
                elsewhere.
                """,
            isForListening: true
        )
    }

    static let trigger = Option(
        name: "--trigger",
        value: .choice("WHEN", GateSettings.Trigger.self) { trigger in
            switch trigger {
            case .early: "as soon as the word is certain (default)"
            case .end: "after the word, with its highest confidence"
            }
        },
        help: "when a word is reported",
        manual: """
            The default is
            .Cm early .
            """,
        isForListening: true
    )

    static let wakeWord = Option(
        name: "--wake-word",
        value: .text("NAME|FILE|DIR", "name", .file),
        repeats: true,
        help: """
            also find a wake word with a model of its own: a name that beckon model list prints, such as okay_nabu, or the \
            file of a model of microWakeWord or openWakeWord, or a folder of such files; may be repeated
            """,
        manual: """
            The configuration's key is
            .Va wakeWords .
            """,
        isForListening: true,
        foreignNames: ["--custom-model-dir", "--preload-model"]
    )

    static let model = Option(
        name: "--model",
        short: "-m",
        value: .model,
        help: "model folder, or a shipped model's name (default: commands)",
        isForListening: true
    )

    static let noConfirm = Option(
        name: "--no-confirm",
        help: "do without the model's confirming networks, if it has some, and the look at wake words; "
            + "they are not loaded",
        manual: """
            The configuration's key is
            .Va confirm .
            """,
        isForListening: true
    )

    static let channel = Option(
        name: "--channel",
        value: .channels,
        help: "channels to listen to, from 0 (default: mix of all)",
        isForListening: true
    )

    static let echoReference = Option(
        name: "--echo-reference",
        value: .whole(0...63),
        help: "channel, from 0, with what a loudspeaker plays; its echo is removed from the other channels",
        isForListening: true
    )

    /// Of a command that listens to a microphone.
    static let liveEchoReference = Option(
        name: "--echo-reference",
        value: OptionValue(
            placeholder: "N|DEVICE",
            title: "reference",
            synopsis: "Ar number | Ar device | Cm speaker",
            completion: .device,
            expected: "a channel from 0 to 63, speaker, or a device's name, such as hw:Loopback,1 or pipewire:monitor",
            accepts: { Configuration.Echo.Reference($0) != nil }
        ),
        help: "channel, from 0, or device with what a loudspeaker plays, or speaker, whose echo is removed",
        isForListening: true
    )

    static let speaker = Option(
        name: "--speaker",
        value: .text("NAME", "name"),
        help: "ALSA device that sounds and answers are played on, such as default",
        manual: """
            The configuration's key is
            .Va speaker .
            """
    )

    static let words = Option(
        name: "--words",
        value: OptionValue(
            placeholder: "W,…|FILE",
            title: "words",
            synopsis: "Ar word , Ns Ar ... | Ar file",
            completion: .wordsOrFile,
            expected: "words with commas between, such as yes,no, or a file of taught words",
            accepts: { !$0.isEmpty }
        ),
        repeats: true,
        help: """
            the only words that may fire, such as yes,no; or the file of the taught words, or none (default: all \
            words, and the file that enroll writes)
            """,
        manual: """
            What has a slash or an ending, and the name of a file that exists, is a file.
            Both may be given.
            With words, a phrase counts if it consists of them, and a wake session of the
            configuration if they are its wake word and some of its words; the words of
            other sessions count at any time.
            For the default file see
            .Ev BECKON_WORDS
            below.
            """
    )

    static let phrase = Option(
        name: "--phrase",
        value: OptionValue(
            placeholder: "\"W W…\"",
            title: "words",
            completion: .nothing,
            expected: "two words or more, such as \"go left\"",
            accepts: { $0.split(whereSeparator: \.isWhitespace).count > 1 }
        ),
        repeats: true,
        help: "report words in this order as a phrase, such as \"go left\"; may be repeated"
    )

    static let jobs = Option(
        name: "--jobs",
        short: "-j",
        value: .whole(1...256),
        help: "number of files to process at a time (default: one per processor)"
    )

    static let jsonLines = json(help: "print one JSON object per line")

    static let microphone = device(help: "capture device: a name that beckon devices lists, or auto (default)")

    /// For the commands that record: they use only the device of the configuration.
    static let deviceConfiguration = configuration(help: "configuration that names the device (default: the service's)")

    static let file = Option(
        name: "--file",
        value: .file,
        help: "play a file as if it came from a microphone, then exit"
    )

    static let raw = Option(
        name: "--raw",
        value: .rawAudio,
        help:
            "the audio on standard input has no header: rate, channels and u8, s8, s16, s24, s24le32, s32, f32 or f64",
        manual: """
            For example
            .Ql 16000,1,s16 .
            The formats are little-endian, with channels interleaved;
            .Cm s24
            is packed in 3 bytes,
            .Cm s24le32
            has 24 bits in the low 3 of 4 bytes.
            ALSA's names are understood too.
            """
    )

    // MARK: - Options with a different meaning in each command

    static func json(help: String, manual: String = "") -> Option { Option(name: "--json", help: help, manual: manual) }

    static func device(help: String) -> Option { Option(name: "--device", short: "-d", value: .device, help: help) }

    static func configuration(help: String, manual: String = "") -> Option {
        Option(name: "--config", short: "-c", value: .file, help: help, manual: manual)
    }

    static func wordsFile(_ completion: Completion = .wordsFile, help: String, manual: String) -> Option {
        Option(name: "--words", value: .text("FILE", "file", completion), help: help, manual: manual)
    }
}

extension OptionValue {
    fileprivate static let sensitivity: OptionValue = {
        var value = choice("NAME", Sensitivity.self) { sensitivity in
            switch sensitivity {
            case .strict: "fewest false accepts"
            case .balanced: "for daily use (default)"
            case .eager: "fewest misses"
            }
        }
        let near = value.suggests
        // Other detectors have sensitivities in numbers.
        value.suggests = { text in
            ConfidenceText.meant(by: text).map { "--threshold \($0), where higher is stricter" } ?? near(text)
        }
        return value
    }()

    static let confidence = OptionValue(
        placeholder: "T",
        title: "confidence",
        completion: .nothing,
        expected: "a confidence between 0 and 1, such as 0.7",
        accepts: { isConfidence($0) },
        suggests: { ConfidenceText.meant(by: $0) }
    )

    static let wordConfidence = OptionValue(
        placeholder: "WORD=T",
        title: "word",
        synopsis: "Ar word Ns = Ns Ar confidence",
        completion: .modelWord,
        expected: "WORD=THRESHOLD with a confidence between 0 and 1 or a sensitivity, such as yes=0.7 or yes=strict",
        accepts: { text in
            let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else { return false }
            return isConfidence(parts[1]) || Sensitivity(rawValue: parts[1]) != nil
        },
        suggests: { text in
            let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else { return nil }
            let names = Sensitivity.allCases.map(\.rawValue)
            return (ConfidenceText.meant(by: parts[1]) ?? nearestName(to: parts[1], of: names)).map {
                "\(parts[0])=\($0)"
            }
        }
    )

    static let wordProgram = OptionValue(
        placeholder: "WORD=PROGRAM",
        title: "word",
        synopsis: "Ar word Ns = Ns Ar program",
        completion: .modelWord,
        expected: "WORD=PROGRAM, such as left=/usr/local/bin/on-left or '*=./on-word'",
        accepts: { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                WordName.trimmed(String($0))
            }
            // What follows a forgotten program is the next option.
            return parts.count == 2 && !parts.contains("") && !parts[1].hasPrefix("-")
        },
        suggests: { text in
            let program = text.hasPrefix("=") ? String(text.dropFirst()) : text
            return PathName.mayBeFile(program) ? ShellWord.quoted("*=\(program)") : nil
        }
    )

    static let channels = OptionValue(
        placeholder: "N,…|mix",
        title: "channel",
        synopsis: "Ar number Ns Oo , Ns Ar number ... Oc | Cm mix",
        completion: .names(["mix", "0", "1", "0,1"]),
        expected: "a number from 0 to 63, a list such as 0,1, or mix",
        accepts: { Configuration.Channels($0) != nil }
    )

    private static func isConfidence(_ text: String) -> Bool { Float(decimal: text).map { $0 > 0 && $0 < 1 } ?? false }
}
