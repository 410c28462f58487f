import Actions
import Audio
private import Capture
import Configuration
import Control
private import Core
import Daemon
private import FoundationEssentials
private import Glibc
private import Inference
private import Spotting
private import Synchronization
import System

/// `beckon listen`: words from a microphone as they are said, on a terminal or as a service.
struct Listen {
    private let options: ListenOptions
    private let log: ServiceLog

    init(_ options: ListenOptions) {
        self.options = options
        log = ServiceLog()
    }

    /// Listens until a signal ends it. Returns the exit status.
    func run() throws -> Int32 {
        // Before any thread is made: all of them leave the signals to this one.
        let signals = Signals()
        let environment = ProcessInfo.processInfo.environment
        let path = options.configuration ?? ConfigurationFile.find(environment: environment)
        let setup = try Misconfiguration.check { try load(path) }
        log.level = setup.configuration.log
        let (source, name) = try source(setup.configuration)
        let screen = LiveScreen(isShown: !options.json && Terminal.outputIsTerminal, words: setup.vocabulary.labels)
        let json = options.json
        let log = log
        let listener = try Listener(
            setup,
            source: source,
            name: name,
            control: try controlPath(setup.configuration, environment),
            environment: environment,
            hooks: .init(
                heard: { event in screen.show(event, json: json) },
                report: { report in log.write(report.priority, report.text) }
            ),
            reload: { try load(path) }
        )
        defer { listener.stop() }
        let recording = try options.record.map { try Recording(path: $0, tape: listener.tape) }
        try listener.microphone?.start()
        let status = follow(listener, source, signals, screen, recording, path: path)
        screen.clear()
        try recording?.finish()
        if let file = source as? FileSource, let problem = file.problem { throw problem }
        return status
    }

    /// Reads the configuration, and the model that it names.
    ///
    /// - Parameter forgives: whether it may name words that are not known any more, as one that was forgotten meanwhile.
    private func load(_ path: String?, forgives: Bool = false) throws -> Listener.Setup {
        var configuration = Configuration()
        // The words are asked for while the configuration is read, and wanted again below.
        var known: (model: String?, vocabulary: Vocabulary)?
        if let path {
            do {
                let file = try ConfigurationFile(path: path) { configuration in
                    let vocabulary = try listening(configuration.model).loadVocabulary()
                    known = (configuration.model, vocabulary)
                    let labels = vocabulary.labels
                    let forgiven = forgives ? configuration.namedWords : []
                    return labels.filter { !$0.hasPrefix("_") } + forgiven
                }
                for warning in file.warnings { log.write(.warning, "\(warning)") }
                configuration = file.configuration
            } catch {
                throw Failure(error.problems.map { "\($0)" }.joined(separator: "\n"))
            }
        }
        options.adjust(&configuration)
        let isKnown = known?.model == configuration.model
        let vocabulary = try (isKnown ? known?.vocabulary : nil) ?? listening(configuration.model).loadVocabulary()
        if forgives {
            for word in configuration.leaveOut(wordsBeside: vocabulary.labels) {
                log.write(.warning, "the configuration names '\(printable(word))', which is not known any more")
            }
        }
        return try Listener.Setup(configuration: configuration, vocabulary: vocabulary)
    }

    private func listening(_ folder: String?) -> ListeningOptions {
        var listening = options.listening
        listening.modelFolder = folder ?? listening.modelFolder
        return listening
    }

    private func source(_ configuration: Configuration) throws -> (source: any AudioSource, name: String) {
        let choice = InputSelection(configuration)
        if let file = options.file { return (try FileSource(path: file, mix: choice.mix), file) }
        var settings = Microphone.Settings()
        settings.selection = choice
        return (try Microphone(settings), configuration.device)
    }

    /// A terminal's user has no service to control, unless they say where its socket is.
    private func controlPath(_ configuration: Configuration, _ environment: [String: String]) throws -> String? {
        if case .auto = configuration.socket, environment["RUNTIME_DIRECTORY"] == nil {
            guard options.file == nil, let folder = environment["XDG_RUNTIME_DIR"] else { return nil }
            mkdir(folder + "/beckon", 0o700)
        }
        return ControlServer.path(for: configuration.socket, environment: environment)
    }

    /// The main thread's work: signals, what the microphone has to tell, signs of life.
    private func follow(
        _ listener: Listener,
        _ source: any AudioSource,
        _ signals: Signals,
        _ screen: LiveScreen,
        _ recording: Recording?,
        path: String?
    ) -> Int32 {
        var vigil = Watchdog(manager: SystemdNotifier())
        var words = FileWatch(TaughtWords(options.listening.words).path)
        var gaps = GapReport()
        while true {
            // A meter moves often; all else has time.
            switch signals.next(within: .milliseconds(screen.isShown ? 100 : 250)) {
            case SIGTERM:
                SystemdNotifier().tellStopping()
                return 0
            case SIGINT:
                SystemdNotifier().tellStopping()
                return 130
            case SIGHUP: tell("the configuration was") { try listener.reloadConfiguration() }
            case SIGUSR1: toggleMute(listener)
            default: break
            }
            if let microphone = listener.microphone {
                for words in gaps.news(of: microphone, at: Clock.now) { log.write(words.priority, words.text) }
            }
            do {
                try recording?.catchUp()
            } catch {
                log.write(.error, "\(error)")
                return 1
            }
            if words.hasChanged(at: Clock.now) {
                tell("your own words were") { try listener.follow(try load(path, forgives: true)) }
            }
            log.level = listener.configuration.log
            vigil.look(at: listener)
            screen.show(listener)
            if source.hasEnded || Output.hasFailed { return 0 }
        }
    }

    /// Reads something again while it runs, and tells how it went.
    private func tell(_ what: String, reading: () throws -> String?) {
        let manager = SystemdNotifier()
        manager.tellReloading()
        do {
            let note = try reading()
            log.write(.notice, "\(what) read again\(note.map { "; \($0)" } ?? "")")
        } catch {
            log.write(.error, "\(error); the configuration in force stays as it was")
        }
        manager.tellReady()
    }

    private func toggleMute(_ listener: Listener) {
        guard let microphone = listener.microphone else { return }
        if microphone.status.state == .muted { microphone.unmute() } else { microphone.mute() }
    }
}
