import Audio
import Configuration
import Spotting

/// The options of `beckon listen`; for options that were not given, the configuration applies.
struct ListenOptions {
    var listening: ListeningOptions
    /// The configuration file; nil for the user's or the system's configuration, if there is one.
    var configuration: String?
    var device: String?
    /// A file that is played as if it came from a microphone; nil for the microphone.
    var file: String?
    /// The path of a WAV file to record the audio to; nil for none.
    var record: String?
    var json: Bool
    var phrases: [String]

    init(_ arguments: Arguments) throws(UsageError) {
        listening = try ListeningOptions(arguments)
        configuration = arguments.value("--config")
        device = arguments.value("--device")
        file = arguments.value("--file")
        record = arguments.value("--record")
        json = arguments.has("--json")
        phrases = arguments.all("--phrase")
        if let operand = arguments.operands.first {
            throw UsageError("listen takes no file name; did you mean --file \(operand)?")
        }
        if file != nil, device != nil { throw UsageError("--device and --file cannot be combined") }
    }

    /// Replaces settings of the configuration by the options of the command line.
    func apply(to configuration: inout Configuration) {
        if let model = listening.modelFolder { configuration.model = model }
        if let device { configuration.device = device }
        if let channels = listening.channels { configuration.channel = channels }
        if let mode = listening.mode { configuration.gate.mode = mode }
        if let trigger = listening.trigger { configuration.gate.trigger = trigger }
        if let choice = listening.choice {
            configuration.choose(choice)
            for word in configuration.words.keys { configuration.words[word]?.choose(nil) }
            for session in configuration.sessions.indices { configuration.sessions[session].choose(choice) }
        }
        for (word, choice) in listening.wordChoices {
            configuration.words[word, default: Configuration.Word()].choose(choice)
            for session in configuration.sessions.indices { configuration.sessions[session].thresholds[word] = nil }
        }
        for text in phrases {
            var phrase = Configuration.Phrase()
            phrase.phrase = text
            configuration.phrases.append(phrase)
        }
    }
}
