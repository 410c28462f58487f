import Configuration
import Core
import Daemon
import Enrollment
import Events
private import FoundationEssentials
import System

/// `beckon listen`: detects words from a microphone as they are said, on a terminal or as a service.
struct Listen {
    private let options: ListenOptions

    init(_ options: ListenOptions) { self.options = options }

    /// Listens until a signal ends it. Returns the exit status.
    func run() throws -> Int32 {
        // Blocks the signals before any thread is started, so that only this thread receives them.
        let signals = Signals()
        let environment = ProcessInfo.processInfo.environment
        let log = ServiceLog { level, text in Output.tell(level, text) }
        let options = options
        let loader = SettingsLoader(
            path: options.configuration ?? ConfigurationFile.find(environment: environment),
            vocabulary: options.listening.vocabulary,
            log: log
        ) { configuration in options.apply(to: &configuration) }
        let settings = try Misconfiguration.check { try loader.load() }
        let screen = try LiveScreen(json: options.json)
        let daemon = try Daemon(
            settings,
            loader: loader,
            setup: .init(file: options.file, recording: options.record, environment: environment),
            log: log,
            sinks: [screen]
        )
        try screen.start(showing: daemon)
        defer { screen.stop() }
        return try daemon.run(signals)
    }
}
