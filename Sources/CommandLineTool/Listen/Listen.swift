import Configuration
import Core
import Daemon
private import ESPHome
import Enrollment
import Events
private import Glibc
import Input
private import Synchronization
import System

/// `beckon listen`: detects words as they are said, on a terminal or as a service.
struct Listen {
    private let options: ListenOptions

    init(_ arguments: Arguments) throws { options = try ListenOptions(arguments) }

    /// Listens until a signal or the end of the audio. Returns the exit status.
    func run() throws -> Int32 {
        // Blocks the signals before any thread is started, so that only this thread receives them.
        let signals = Signals(drawing: LiveScreen.canDraw && !options.json)
        let logOutput = try Self.logOutput()
        do {
            let status = try listen(signals, logOutput)
            // The error of a full disk is still to be written.
            if Output.hasFailed { signals.unblock() }
            return status
        } catch {
            logOutput.finish(until: Clock.now + Self.timeout)
            // What follows writes to standard error, and waits for its reader.
            signals.unblock()
            throw error
        }
    }

    /// How long to wait for the readers of standard output and standard error at the end.
    private static let timeout = Duration.milliseconds(200)

    private static func logOutput() throws -> LineWriter {
        var settings = LineWriter.Settings()
        settings.resumed = { dropped in
            let lines = counted(dropped, "line of this log was", "lines of this log were")
            return Output.marked(.warning, "\(lines) dropped, as its reader did not read them")
        }
        return try LineWriter(STDERR_FILENO, name: "beckon-log", settings: settings)
    }

    private func listen(_ signals: Signals, _ logOutput: LineWriter) throws -> Int32 {
        if case .stream = options.input, isatty(STDIN_FILENO) == 1 {
            throw Failure(
                "standard input is a terminal; pipe audio into beckon, as "
                    + "arecord -f S16_LE -r 16000 -t raw | beckon listen --raw 16000,1,s16 -"
            )
        }
        let environment = OwnEnvironment.variables
        // Lines of the log go to standard error, or above the panel that is on the same terminal.
        let destination = Mutex(logOutput)
        let log = ServiceLog(entry: Output.errorEntry) { level, text in
            if !Output.hasFailed { destination.withLock { $0 }.write(Output.marked(level, text)) }
        }
        let options = options
        let path = try Misconfiguration.check {
            try options.configuration ?? InstanceOption.configuration(environment)
        }
        let loader = SettingsLoader(
            path: path,
            vocabulary: options.listening.vocabulary,
            log: log
        ) { configuration in
            options.override(&configuration)
            // What Home Assistant's picker has chosen beside the file.
            guard !configuration.esphome.listen.isEmpty else { return }
            let state = StateFolder.path(of: Instance.named(in: environment))
            configuration.wakeWords += OfferedModels.manifests(in: state)
        }
        // The files may lie on a disk that does not answer.
        let settings = try signals.interruptible { try Misconfiguration.check { try loader.load() } }
        try options.programs.check(settings)
        if !options.limit.isSet, options.input == .microphone, let path {
            let own = InstanceConfiguration(Instance.named(in: environment), path: path)
            for line in own.collisions(withRunning: environment) { log.write(.warning, line) }
        }
        let screen = try LiveScreen(json: options.json, once: options.once, played: options.input.name, log: log)
        if screen.takesLog { destination.withLock { $0 = screen.output } }
        let (daemon, status): (Daemon, Int32)
        do {
            daemon = try Daemon(
                settings,
                loader: loader,
                setup: .init(
                    .detector(options.input),
                    recording: options.record,
                    limit: options.limit,
                    environment: environment,
                    output: screen.output,
                    outputIsJSON: options.json,
                    logOutput: logOutput,
                    onTerminalSignal: { screen.receive(signal: $0) }
                ),
                signals: signals,
                log: log,
                sinks: [screen]
            )
            screen.show(daemon)
            status = try daemon.run(signals)
        } catch {
            _ = screen.end(until: Clock.now + Self.timeout, hasFailed: true)
            throw error
        }
        let summary = screen.end(until: Clock.now + Self.timeout)
        if screen.endsWithReader {
            logOutput.finish(until: Clock.now + Self.timeout)
            Output.endWithoutReader()
        }
        if let summary { log.write(.info, summary) }
        let isMissed = options.limit.isSet && !daemon.hasFound && status != 130
        if isMissed { log.write(.notice, Self.missed(options)) }
        logOutput.finish(until: Clock.now + Self.timeout)
        let result = isMissed ? Self.missedStatus : status
        // The exit handlers of libraries may wait for the thread that hangs.
        if daemon.isStuck { _exit(result) }
        return result
    }

    /// The exit status of `--once` and `--seconds` without a word.
    private static let missedStatus: Int32 = 3

    private static func missed(_ options: ListenOptions) -> String {
        let what = options.limit.first == .phrase ? "phrase" : "word"
        return "no \(what) came" + (options.limit.seconds.map { " within \(shortest($0)) s" } ?? "")
    }
}
