import Audio
import Configuration
private import Core
import Daemon
private import Glibc
import Input
import Spotting

/// The options of `beckon listen`; for options that were not given, the configuration applies.
struct ListenOptions {
    private let arguments: Arguments
    let listening: ListeningOptions
    let input: AudioInput
    /// What `--run` names.
    let programs: [WordProgram]

    /// The configuration file; nil for the user's or the system's configuration, if there is one.
    var configuration: String? { arguments.value("--config") }
    private var device: String? { arguments.value("--device") }
    /// The path of a WAV file to record the audio to; nil for none.
    var record: String? { arguments.value("--record") }
    var json: Bool { arguments.has("--json") }
    /// Whether it ends after the first word, or after the first phrase of `--phrase`.
    var once: Bool { arguments.has("--once") }
    /// When it ends by itself.
    var limit: ListeningLimit {
        let first = arguments.has("--phrase") ? ListeningLimit.Event.phrase : .word
        return ListeningLimit(first: once ? first : nil, seconds: arguments.number("--seconds"))
    }

    /// The operand for audio on standard input.
    private static let standardInput = "-"

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        listening = try ListeningOptions(arguments)
        programs = try WordProgram.all(arguments)
        let device = arguments.value("--device")
        let file = arguments.value("--file")
        let raw = arguments.value("--raw").flatMap { RawFormat($0) }
        let isStream = arguments.operands.contains(Self.standardInput)
        if let operand = arguments.operands.first(where: { $0 != Self.standardInput }) {
            throw UsageError("listen takes no file name; did you mean --file \(ShellWord.quoted(printable(operand)))?")
        }
        if file == Self.standardInput { throw UsageError("--file takes a file; for standard input give - alone") }
        if file != nil, device != nil { throw UsageError("--device and --file cannot be combined") }
        if isStream, file != nil || device != nil {
            throw UsageError("- is the audio on standard input, and cannot be combined with --device or --file")
        }
        guard raw == nil || isStream else {
            throw UsageError("--raw is the format of audio on standard input; give - for it")
        }
        input = isStream ? .stream(STDIN_FILENO, raw) : file.map { .file($0) } ?? .microphone
    }

    /// Replaces settings of the configuration by the options of the command line.
    func override(_ configuration: inout Configuration) {
        if let model = listening.modelFolder { configuration.model = model }
        configuration.wakeWords += listening.wakeWords.filter { !configuration.wakeWords.contains($0) }
        if !listening.confirms { configuration.confirms = false }
        if let device { configuration.device = device }
        if let channels = listening.channels { configuration.channel = channels }
        if let reference = listening.echoReference { configuration.echo.reference = reference }
        if let speaker = arguments.value("--speaker") { configuration.speaker = speaker }
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
        if let only = listening.onlyWords { configuration.keepOnly(words: only) }
        for text in arguments.all("--phrase") {
            var phrase = Configuration.Phrase()
            phrase.phrase = text
            configuration.phrases.append(phrase)
        }
        programs.override(&configuration)
    }
}
