import Configuration
import Core
import Daemon
import Enrollment
import Events
private import FoundationEssentials
private import Glibc
import System

/// `beckon listen`: detects words from a microphone as they are said, on a terminal or as a service.
struct Listen {
    private let options: ListenOptions

    init(_ options: ListenOptions) { self.options = options }

    /// Listens until a signal ends it. Returns the exit status.
    func run() throws -> Int32 {
        // Blocks the signals before any thread is started, so that only this thread receives them.
        let signals = Signals()
        let logOutput = try Self.logOutput()
        do {
            let status = try listen(signals, logOutput)
            // The error of a full disk is still to be written.
            if Output.hasFailed { signals.unblock() }
            return status
        } catch {
            logOutput.finish(until: Clock.now + Self.patience)
            // What follows writes to standard error, and waits for its reader.
            signals.unblock()
            throw error
        }
    }

    /// How long to wait for the readers of standard output and standard error at the end.
    private static let patience = Duration.milliseconds(200)

    private static func logOutput() throws -> LineWriter {
        var settings = LineWriter.Settings()
        settings.resumed = { dropped in
            Output.marked(.warning, "\(dropped) lines of this log were dropped, as its reader did not read them")
        }
        return try LineWriter(STDERR_FILENO, name: "beckon-log", settings: settings)
    }

    private func listen(_ signals: Signals, _ logOutput: LineWriter) throws -> Int32 {
        let environment = ProcessInfo.processInfo.environment
        let log = ServiceLog { level, text in
            if !Output.hasFailed { logOutput.write(Output.marked(level, text)) }
        }
        let options = options
        let loader = SettingsLoader(
            path: options.configuration ?? ConfigurationFile.find(environment: environment),
            vocabulary: options.listening.vocabulary,
            log: log
        ) { configuration in options.apply(to: &configuration) }
        // The files may lie on a disk that does not answer.
        let settings = try signals.interruptible { try Misconfiguration.check { try loader.load() } }
        let screen = try LiveScreen(json: options.json, log: log)
        let daemon = try Daemon(
            settings,
            loader: loader,
            setup: .init(
                file: options.file,
                recording: options.record,
                environment: environment,
                output: screen.output,
                logOutput: logOutput
            ),
            log: log,
            sinks: [screen]
        )
        screen.show(daemon)
        let status: Int32
        do {
            status = try daemon.run(signals)
        } catch {
            screen.output.finish(until: Clock.now + Self.patience)
            throw error
        }
        screen.output.finish(until: Clock.now + Self.patience)
        logOutput.finish(until: Clock.now + Self.patience)
        // The exit handlers of libraries may wait for the thread that hangs.
        if daemon.isStuck { _exit(status) }
        return status
    }
}
