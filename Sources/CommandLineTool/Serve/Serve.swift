import Configuration
private import Core
import Daemon
import Enrollment
import Events
private import Glibc
private import Inference
import IntegrationInterface
import Network
private import Spotting
import System

/// `beckon serve`: a wake-word server for Home Assistant and satellites, without a microphone.
struct Serve {
    private let listen: [ListenAddress]
    private let web: [ListenAddress]
    private let connections: Int?
    private let threads: Int?
    private let options: ListenOptions
    private let onlyWakeWords: Bool
    private let triggerLevel: Int?
    private let refractory: Double?

    /// Where it listens unless the configuration or an option says so: the port of wake-word servers, on this machine only.
    private static let usual = ListenAddress.tcp(host: "127.0.0.1", port: 10_400)

    init(_ arguments: Arguments) throws {
        if let operand = arguments.operands.first {
            throw UsageError("serve takes options only, not '\(printable(operand))'; did you mean --listen?")
        }
        options = try ListenOptions(arguments)
        // They were checked against the declaration.
        listen = arguments.all("--listen").compactMap { try? ListenAddress($0) }
        web = arguments.all("--web").compactMap { try? ListenAddress($0) }
        connections = arguments.whole("--connections")
        threads = arguments.whole("--threads")
        onlyWakeWords = arguments.has("--only-wake-words")
        triggerLevel = arguments.whole("--trigger-level")
        refractory = arguments.number("--refractory")
        if onlyWakeWords, arguments.has("--phrase") || options.listening.onlyWords != nil {
            throw UsageError("--only-wake-words chooses the words; leave --words and --phrase out")
        }
    }

    /// Serves until a signal. Returns the exit status.
    func run() throws -> Int32 {
        // Blocks the signals before any thread is started, so that only this thread receives them.
        let signals = Signals()
        let output = try LineWriter(STDERR_FILENO, name: "beckon-log")
        defer { output.finish(until: Clock.now + .milliseconds(200)) }
        let log = ServiceLog(entry: Output.errorEntry) { level, text in output.write(Output.marked(level, text)) }
        let environment = OwnEnvironment.variables
        let (options, listen, web, connections) = (options, listen, web, connections)
        let (onlyWakeWords, refractory) = (onlyWakeWords, refractory)
        var vocabulary = options.listening.vocabulary
        vocabulary.triggerLevel = triggerLevel
        let loader = SettingsLoader(
            path: options.configuration ?? ConfigurationFile.find(environment: environment),
            vocabulary: vocabulary,
            log: log
        ) { configuration in
            options.override(&configuration)
            // Wake words stand within speech: thresholds and checks are those of this mode.
            configuration.gate.mode = .spot
            if !listen.isEmpty { configuration.wyoming.listen = listen }
            if configuration.wyoming.listen.isEmpty { configuration.wyoming.listen = [Self.usual] }
            // What the configuration names is for the service with a microphone, which may run at the same time.
            configuration.web.listen = web
            configuration.metrics.file = nil
            // What the page shows of clients, unless the configuration says how much.
            if !web.isEmpty, configuration.wyoming.recent.keep == 0 { configuration.wyoming.recent.keep = 10 }
            if onlyWakeWords { configuration.keepOnlyWakeWords() }
            if let refractory { configuration.gate.refractory = refractory }
            if let connections { configuration.wyoming.connections = connections }
        }
        let settings = try signals.interruptible { try Misconfiguration.check { try loader.load() } }
        guard !onlyWakeWords || !settings.vocabulary.wakeWords.isEmpty else {
            throw Failure("there are no wake words; name one with --wake-word, or in wakeWords of the configuration")
        }
        let setup = Daemon.Setup(
            .server(threads: threads ?? OwnEnvironment.processors),
            environment: environment,
            output: output,
            logOutput: output
        )
        return try Daemon(settings, loader: loader, setup: setup, signals: signals, log: log).run(signals)
    }
}
