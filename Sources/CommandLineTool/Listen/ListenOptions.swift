import Audio
import Service
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

    static let options: [Arguments.Option] =
        ListeningOptions.options.filter { $0.name != "--jobs" } + [
            ListeningOptions.wordsOption,
            .init("--config", short: "-c", takesValue: true), .init("--device", short: "-d", takesValue: true),
            .init("--file", takesValue: true), .init("--record", takesValue: true), .init("--json"),
            .init("--phrase", takesValue: true),
        ]

    init(_ arguments: Arguments) throws(UsageError) {
        listening = try ListeningOptions(arguments, processors: 1)
        configuration = arguments.value("--config")
        device = arguments.value("--device")
        file = arguments.value("--file")
        record = arguments.value("--record")
        json = arguments.has("--json")
        phrases = arguments.all("--phrase")
        if let operand = arguments.operands.first {
            throw UsageError("listen takes no file name; did you mean --file \(operand)?")
        }
        if file != nil, device != nil { throw UsageError("--device and --file exclude each other") }
    }

    /// Puts what was said on the command line in place of what the configuration says.
    func adjust(_ configuration: inout Configuration) {
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
