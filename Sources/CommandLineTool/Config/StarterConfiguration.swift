import JSON

/// The configuration that `beckon config init` writes: what was answered, and comments.
struct StarterConfiguration: Equatable {
    /// What gets each word.
    enum Receiver: Equatable {
        case nobody
        /// A program, by its whole path.
        case program(String)
        /// The host of an MQTT broker.
        case broker(String)
    }

    /// The capture device, or `auto`.
    var device = "auto"
    /// Words that never fire.
    var disabled: [String] = []
    var receiver = Receiver.nobody

    /// The text of the file.
    var text: String {
        """
        // The configuration of beckon, in JSON5: JSON with comments, trailing commas, and keys without quotes. Every line may be
        // left out; man beckon.conf explains all keys. Lines that begin with // and no space are examples.
        //
        // After a change, beckon config check lists mistakes, and beckon reload applies the file to a running service.
        {
            // The microphone: a name that beckon devices lists, or "auto" for the first that works.
            device: \(JSON.string(device)),

            // "command" finds words said alone, between pauses; "spot" finds them anywhere, also inside talk.
            mode: "command",

            // How readily words are found: "strict", "balanced" or "eager".
            sensitivity: "balanced",

            // Single words. With enabled: false a word is never found.
            words: {
        \(disabled.map { "        \(JSON.string($0)): { enabled: false },\n" }.joined())\
                //stop: { sensitivity: "strict", actions: [{ run: ["/usr/bin/logger", "somebody said stop"] }] },
            },

            // What every word does that has no actions of its own. A program gets the word in $BECKON_WORD.
            actions: [
        \(action)\
                //{ journal: "info" },
            ],

            // A broker that gets the words, also for Home Assistant.
            \(broker),
        }

        """
    }

    private var action: String {
        guard case .program(let path) = receiver else {
            return "        //{ run: [\"/usr/local/bin/on-word\"], timeout: 5 },\n"
        }
        return "        { run: [\(JSON.string(path))] },\n"
    }

    private var broker: String {
        guard case .broker(let host) = receiver else { return "//mqtt: { host: \"127.0.0.1\" }" }
        return "mqtt: { host: \(JSON.string(host)) }"
    }
}
