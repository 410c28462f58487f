/// Options that other programs have, or that people expect: nobody's names here, but understood in the message about them. An option that
/// means the same with another name is in ``Option/foreignNames``.
enum ForeignOptions {
    /// What to say about an option: the first whose option the command has, or that needs none.
    private struct Advice {
        /// The option of the command that is meant; nil for advice to all commands.
        var option: String?
        let text: String

        init(_ text: String, if option: String? = nil) { (self.text, self.option) = (text, option) }
    }

    /// - Parameters:
    ///   - name: as it was given, but with hyphens for underscores.
    ///   - options: those of the command.
    /// - Returns: a clause for the message; nil for a name that nobody has.
    static func advice(on name: String, for options: [String]) -> String? {
        let bare = String(name.dropFirst(2))
        let known = families.first { bare.hasPrefix($0 + "-") } ?? bare
        let all = table.first { $0.names.contains(known) }?.advice ?? []
        return all.first { $0.option.map(options.contains) ?? true }?.text
    }

    /// Options that come with others of the same beginning, such as `--mic-command-rate`.
    private static let families = ["mic-command", "snd-command"]

    private static let leaveOut = Advice("it is not needed here; leave it out")

    /// Names without their dashes.
    private static let table: [(names: Set<String>, advice: [Advice])] = [
        // Porcupine.
        (
            ["keyword", "keywords", "wakeword", "wakewords", "wake-words", "hotword", "hotwords"],
            [
                Advice("did you mean --words W,…, or --wake-word NAME|FILE for a model?", if: "--wake-word"),
                Advice("words are operands or in --words; did you mean --words?", if: "--words"),
                Advice("words with models of their own are found by beckon listen --wake-word NAME|FILE"),
            ]
        ),
        (
            ["keyword-path", "keyword-paths", "model-path", "model-paths", "wake-model", "wakeword-models"],
            [
                Advice("did you mean --wake-word FILE, of microWakeWord or openWakeWord?", if: "--wake-word"),
                Advice("did you mean --model DIR?", if: "--model"),
            ]
        ),
        (
            ["sensitivities"],
            [
                Advice(
                    "did you mean --sensitivity strict, balanced or eager, or --threshold T, where higher is stricter?",
                    if: "--sensitivity"
                ), Advice("a sensitivity is chosen where words are found: beckon listen --sensitivity NAME"),
            ]
        ),
        (
            [
                "audio-device-index", "audio-device", "device-index", "input-device", "input-device-index",
                "audio-input-device", "mic", "microphone", "mic-device",
            ],
            [
                Advice("did you mean --device NAME? beckon devices lists the names", if: "--device"),
                Advice("a microphone is chosen by the configuration's key device; beckon devices lists the names"),
            ]
        ),
        (
            ["show-audio-devices", "list-devices", "list-audio-devices", "list-audio-input-devices", "devices"],
            [Advice("did you mean beckon devices?")]
        ),
        (
            ["access-key", "library-path", "inference-framework", "chunk-size", "frame-length", "zeroconf"],
            [leaveOut]
        ),
        (
            ["wav-path", "input-audio-path", "audio-path", "input", "audio-file", "input-file"],
            [
                Advice("did you mean --file FILE?", if: "--file"),
                Advice("files need no option; did you mean beckon classify FILE?"),
            ]
        ),
        (
            ["output-path", "output-dir", "output-folder", "out"],
            [
                Advice("did you mean --output?", if: "--output"),
                Advice("did you mean --record FILE?", if: "--record"),
                Advice("the configuration's key misses keeps the audio of words, by { dir: \"/a/folder\" }"),
            ]
        ),
        // wyoming-satellite, wyoming-openwakeword, linux-voice-assistant.
        (
            ["mic-command"],
            [
                Advice(
                    "did you mean --device NAME? Audio of another program comes by a pipe: arecord -t wav … | beckon listen -",
                    if: "--device"
                ),
                Advice("the microphone is the configuration's key device; beckon devices lists the names"),
            ]
        ),
        (
            ["snd-command", "audio-output-device", "snd-device"],
            [
                Advice("did you mean --speaker NAME?", if: "--speaker"),
                Advice("did you mean the configuration's key speaker?"),
            ]
        ),
        (
            ["wake-uri", "wake-word-name", "wake-word-names", "wake-command"],
            [Advice("words are found here; the configuration's wyoming.satelliteWords selects some")]
        ),
        (["satellite"], [Advice("did you mean the configuration's wyoming.satellite?")]),
        (
            ["awake-wav", "done-wav", "timer-finished-wav"],
            [Advice("did you mean the configuration's wyoming.heardSound and wyoming.doneSound?")]
        ),
        (
            [
                "vad", "vad-threshold", "no-vad", "gain", "audio-gain", "mic-auto-gain", "mic-noise-suppression",
                "mic-volume-multiplier", "noise-suppression", "enable-speex-noise-suppression", "apply-frontend",
            ], [Advice("it is not needed here, as the model knows silence and other speech; leave it out")]
        ),
        (
            ["wake-refractory-seconds", "refractory-seconds", "cooldown", "debounce-time", "patience"],
            [
                Advice("did you mean --refractory S?", if: "--refractory"),
                Advice("did you mean the configuration's key cooldown?"),
            ]
        ),
        // What people expect.
        (
            ["debug", "verbose", "debug-logging", "debug-probability", "log-level", "loglevel", "log"],
            [
                Advice(
                    "the configuration's key log has the level of messages: log: \"debug\"; beckon inspect FILE shows every score",
                    if: "--config"
                ), Advice("messages have one level here; beckon inspect FILE shows every score of a recording"),
            ]
        ),
        (
            ["quiet", "silent"],
            [Advice("did you mean 2>/dev/null, which hides messages?")]
        ),
        (
            [
                "run", "exec", "execute", "command", "cmd", "action", "actions", "hook", "on-word", "script",
                "detection-command", "on-detection", "program",
            ],
            [
                Advice("did you mean --run WORD=PROGRAM, with '*' for every word?", if: "--run"),
                Advice(
                    "programs are run by beckon listen --run WORD=PROGRAM, and by actions of the configuration; beckon config init writes one"
                ),
            ]
        ),
        (
            ["mqtt", "mqtt-host", "mqtt-broker", "broker", "webhook", "url"],
            [Advice("what gets the words is in the configuration, as mqtt: { host: … }; beckon config init writes one")]
        ),
        (
            ["duration", "timeout", "time", "max-seconds"],
            [
                Advice("did you mean --seconds S?", if: "--seconds"),
                Advice("did you mean timeout S before the command?"),
            ]
        ),
        (
            ["start", "begin", "offset", "start-time"],
            [Advice("did you mean --from S?", if: "--to"), Advice("only beckon inspect takes a part: --from S --to S")]
        ),
        (
            ["end", "stop", "end-time"],
            [Advice("did you mean --to S?", if: "--to"), Advice("only beckon inspect takes a part: --from S --to S")]
        ),
        (
            ["rate", "sample-rate", "samplerate", "channels", "sample-format"],
            [
                Advice("did you mean --raw 16000,1,s16? A file says itself what it has", if: "--raw"),
                Advice("files say themselves what they have; leave it out"),
            ]
        ),
    ]
}
