import Audio
import Configuration
import Spotting

/// What `beckon listen` was asked for; what is not said here stands in the configuration.
struct ListenOptions {
    var listening: ListeningOptions
    /// Nil for the user's or the system's configuration, where there is one.
    var configuration: String?
    var device: String?
    /// A file that is played as if it came from a microphone.
    var file: String?
    /// Where what is heard is written to.
    var record: String?
    var json: Bool
    var phrases: [String]

    init(_ arguments: Arguments) throws(UsageError) {
        listening = ListeningOptions(arguments)
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

    /// Puts what was said on the command line in place of what the configuration says.
    func apply(to configuration: inout Configuration) {
        if let model = listening.modelFolder { configuration.model = model }
        if let device { configuration.device = device }
        if let channels = listening.channels { configuration.channel = channels }
        if let mode = listening.mode { configuration.gate.mode = mode }
        if let trigger = listening.trigger { configuration.gate.trigger = trigger }
        if let threshold = listening.threshold {
            configuration.threshold = threshold
            for word in configuration.words.keys { configuration.words[word]?.threshold = nil }
        }
        for (word, threshold) in listening.wordThresholds {
            configuration.words[word, default: Configuration.Word()].threshold = threshold
        }
        for text in phrases {
            var phrase = Configuration.Phrase()
            phrase.phrase = text
            configuration.phrases.append(phrase)
        }
    }
}
