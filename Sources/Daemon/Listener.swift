public import Actions
public import Capture
public import Configuration
public import Control
private import Core
public import Events
private import Inference
public import Spotting
import Synchronization

/// The service: a microphone, the detector, and what is done about words, from start to stop.
///
/// It can be asked for its status, muted, given another configuration and other thresholds from any thread.
public final class Listener: Sendable {
    /// A configuration with the model that it names, whose words it knows.
    public struct Setup: Sendable {
        public let configuration: Configuration
        public let vocabulary: Vocabulary
        private let thresholds: Thresholds
        private let phrases: [Phrase]

        /// - Throws: what is wrong with the words of the configuration.
        public init(configuration: Configuration, vocabulary: Vocabulary) throws(SpottingError) {
            self.configuration = configuration
            self.vocabulary = vocabulary
            thresholds = try configuration.thresholds(labels: vocabulary.labels, defaults: vocabulary.thresholds)
            phrases = try configuration.detectorPhrases(labels: vocabulary.labels)
        }

        func rules(generation: UInt32) -> Rules {
            Rules(
                vocabulary: vocabulary,
                gate: configuration.gate,
                thresholds: thresholds,
                phrases: phrases,
                generation: generation
            )
        }
    }

    /// Whom the listener tells what; called from any of its threads.
    public struct Hooks: Sendable {
        public var heard: @Sendable (DetectionEvent) -> Void
        public var report: @Sendable (ActionRunner.Report) -> Void

        public init(
            heard: @escaping @Sendable (DetectionEvent) -> Void,
            report: @escaping @Sendable (ActionRunner.Report) -> Void
        ) {
            self.heard = heard
            self.report = report
        }
    }

    private struct State {
        var setup: Setup
        var rules: Rules
    }

    /// Nil where a file is played.
    public let microphone: Microphone?
    private let state: Mutex<State>
    private let actions: ActionRunner
    private let detector: DetectorThread
    private let control: ControlServer?
    private let clips: ClipKeeper
    private let reload: @Sendable () throws -> Setup
    /// Leads back here from what the parts call; empty once all is stopped.
    private let back: Back

    private final class Back: Sendable { let listener = Mutex<Listener?>(nil) }

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - source: where the audio comes from; the microphone itself, where there is one.
    ///   - reload: reads the configuration anew.
    ///   - control: path of the control socket; nil for none.
    public init(
        _ setup: Setup,
        source: any AudioSource,
        name: String,
        control path: String?,
        environment: [String: String],
        hooks: Hooks,
        reload: @escaping @Sendable () throws -> Setup
    ) throws {
        microphone = source as? Microphone
        self.reload = reload
        let back = Back()
        self.back = back
        let clips = ClipKeeper(report: hooks.report)
        self.clips = clips
        actions = try ActionRunner(
            setup.configuration,
            labels: setup.vocabulary.labels,
            device: name,
            environment: environment,
            heard: { event in
                hooks.heard(event)
                let listener = back.listener.withLock { $0 }
                listener?.control?.publish(event.json)
                if let listener, event.kind != .phrasePartial { clips.keep(event, of: listener.detector.tape) }
            },
            report: hooks.report
        )
        clips.follow(setup.configuration.clips)
        let rules = setup.rules(generation: actions.generation)
        state = Mutex(State(setup: setup, rules: rules))
        detector = try DetectorThread(source: source, rules: rules, events: actions.inbox)
        control = try path.map { path in
            try ControlServer(path: path) { command in
                guard let listener = back.listener.withLock({ $0 }) else {
                    return .failed("the service is just starting")
                }
                return listener.perform(command)
            }
        }
        back.listener.withLock { $0 = self }
    }

    /// Ends listening, running actions and the socket.
    public func stop() {
        microphone?.stop()
        detector.stop()
        control?.stop()
        actions.stop()
        back.listener.withLock { $0 = nil }
    }

    public var detectorStatus: DetectorStatus { detector.status }
    public var actionCounts: ActionRunner.Counts { actions.counts }
    public var tape: AudioHistory { detector.tape }
    public var vocabulary: Vocabulary { state.withLock { $0.setup.vocabulary } }
    public var configuration: Configuration { state.withLock { $0.setup.configuration } }
    public var thresholds: Thresholds { state.withLock { $0.rules.thresholds } }

    // MARK: - What it can be asked for

    private func perform(_ command: ControlCommand) -> ControlServer.Reply {
        do {
            switch command {
            case .status, .events: return .status(statusJSON)
            case .mute, .unmute:
                guard let microphone else { return .failed("a file is played, which cannot be muted") }
                if command == .mute { microphone.mute() } else { microphone.unmute() }
            case .reload:
                if let note = try reloadConfiguration() { return .status("\"note\": \(jsonString(note))") }
            case .set(let words): try set(words)
            }
            return .done
        } catch {
            return .failed("\(error)")
        }
    }

    /// Reads the configuration again and follows it; where it is wrong, all stays as it was.
    ///
    /// - Returns: what does not apply before the next start, in a line; nil where all does.
    public func reloadConfiguration() throws -> String? { try follow(try reload()) }

    /// Goes by another configuration, or other words.
    ///
    /// - Returns: as ``reloadConfiguration()``.
    public func follow(_ new: Setup) throws -> String? {
        let old = configuration
        let generation = try actions.apply(new.configuration, labels: new.vocabulary.labels)
        let rules = new.rules(generation: generation)
        state.withLock { $0 = State(setup: new, rules: rules) }
        clips.follow(new.configuration.clips)
        detector.follow(rules)
        if let microphone {
            actions.setDevice(new.configuration.device)
            microphone.apply(InputSelection(new.configuration))
        }
        guard new.configuration.socket != old.socket else { return nil }
        return "socket: the one in use stays until the service is started again"
    }

    /// Other thresholds for some words, until the next reload.
    public func set(_ words: [WordThreshold]) throws(SpottingError) {
        let rules = try state.withLock { state throws(SpottingError) in
            var rules = state.rules
            for word in words { try rules.thresholds.set(word.word, to: word.threshold) }
            state.rules = rules
            return rules
        }
        detector.follow(rules)
    }

    /// Members of a JSON object.
    private var statusJSON: String {
        let counts = actions.counts
        var members = ["\"model\": \(jsonString(vocabulary.model.name))"] + detector.status.json
        members += [
            "\"events\": \(counts.events)",
            "\"suppressed\": \(counts.suppressed)",
            "\"actionsFailed\": \(counts.failed)",
        ]
        if let status = microphone?.status { members = status.json + members }
        let rules = state.withLock { $0.rules }
        let words = zip(rules.vocabulary.labels, rules.thresholds.values).compactMap { label, threshold in
            threshold.map { "\(jsonString(label)): \(decimal(Double($0), 3))" }
        }
        return (members + ["\"thresholds\": {\(words.joined(separator: ", "))}"]).joined(separator: ", ")
    }
}

extension CaptureStatus {
    /// Members of a JSON object.
    var json: [String] {
        var members = [
            "\"state\": \(jsonString("\(state)"))",
            "\"device\": \(jsonString(device))",
        ]
        if !problem.isEmpty, state == .waiting || state == .lost {
            members.append("\"problem\": \(jsonString(problem))")
        }
        if let format {
            members += ["\"rate\": \(format.rate)", "\"channels\": \(format.channels)"]
        }
        return members + [
            "\"realTime\": \(isRealTime)",
            "\"levelDecibels\": \(decimal(decibels(amplitude: level), 1))",
            "\"peakDecibels\": \(decimal(decibels(amplitude: peak), 1))",
            "\"gaps\": \(counts.gaps)",
            "\"overruns\": \(counts.overruns)",
            "\"reconnects\": \(counts.reconnects)",
            "\"frames\": \(frames)",
        ]
    }
}
