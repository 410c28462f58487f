import Actions
import Audio
import Capture
import Configuration
import Control
import Core
import DeviceGroup
import Events
import Input
import JSON
import Playback
import Spotting
import System

/// From a source of audio to all that happens on its words: detector, dispatcher, actions, clips, recent words, recording.
final class Pipeline: Sendable {
    let source: any AudioSource
    /// Nil if a file or a stream is played instead.
    let microphone: Microphone?
    /// The name of the file or the stream; nil for a microphone.
    let played: String?
    let history = AudioHistory()
    let actions: ActionRunner
    /// Plays what actions and integrations give it; without a device in the configuration it does nothing.
    let speaker: Speaker
    let clips: ClipSaver
    let misses: RecentWords
    let group: GroupSink
    let dispatcher: EventDispatcher
    let detector: DetectorThread
    let recording: Recording?
    /// Whether another service has the sockets and the list of misses.
    private let isBesideAnother: Bool
    /// What the service is called among others.
    private let name: String
    private let log: ServiceLog

    /// Opens what it needs; nothing runs yet.
    ///
    /// - Parameters:
    ///   - signals: end the program at once while a file is opened, whose disk may not answer.
    ///   - socketFolder: the folder of the control socket, where that is a service's own; for other services of a group.
    ///   - sinks: further receivers of events, in addition to actions, clips and recent words.
    init(
        _ input: AudioInput,
        _ settings: ServiceSettings,
        _ setup: Daemon.Setup,
        isBesideAnother: Bool,
        socketFolder: String?,
        signals: Signals,
        sinks: [any EventSink],
        log: ServiceLog
    ) throws {
        let configuration = settings.configuration
        source = try signals.interruptible { try input.open(InputSelection(configuration)) }
        let microphone = (source as? MicrophoneSource)?.microphone
        self.microphone = microphone
        played = input.name
        self.isBesideAnother = isBesideAnother
        name = Instance.named(in: setup.environment)?.name ?? readableMachineName
        self.log = log
        let (output, isJSON) = (setup.output, setup.outputIsJSON)
        speaker = Speaker { log.write($0, $1) }
        actions = try ActionRunner(
            configuration,
            environment: setup.environment,
            leavesOutSocketsInUse: isBesideAnother,
            speaker: speaker,
            log: log
        ) { line in output.write(isJSON ? Self.printEvent(line).line : line) }
        clips = ClipSaver(configuration.clips, history: history, log: log)
        misses = RecentWords(
            isBesideAnother ? Configuration.Misses() : configuration.misses,
            history: history,
            log: log
        )
        group = try GroupSink(folder: socketFolder, log: log, sinks: [actions] + sinks + [clips, misses])
        dispatcher = try EventDispatcher(
            configuration,
            labels: settings.vocabulary.labels,
            device: input.name ?? configuration.device,
            deviceInUse: { microphone?.deviceInUse },
            history: history,
            last: setup.limit.first,
            sinks: [group]
        )
        detector = DetectorThread(
            source: source,
            settings: dispatcher.numbered(settings.detector),
            queue: dispatcher.queue,
            history: history
        )
        recording = try setup.recording.map { [history, source] path throws(DaemonError) in
            try Recording(path: path, history: history, lost: source.lost)
        }
    }

    /// Adds what receives events, which stops after all that makes them.
    ///
    /// - Parameter settings: those at the start.
    func addSinks(to parts: PartGroup, _ settings: ServiceSettings) {
        parts.add(timeout: .milliseconds(300)) { [self] in
            try speaker.select(settings.configuration.speaker)
            feedReference(settings.configuration)
        } stop: { [speaker] end in
            speaker.stop(until: end)
        }
        parts.add(timeout: .milliseconds(200)) { [clips, misses] _ in
            clips.stop()
            misses.stop()
            return true
        }
        parts.add(timeout: .seconds(2)) { [actions] end in
            actions.stop(until: max(end, Clock.now + .milliseconds(100)))
        }
    }

    /// Adds what makes events: recording, group, dispatcher, detector and source.
    ///
    /// - Parameter settings: those at the start.
    func addSources(to parts: PartGroup, _ settings: ServiceSettings) {
        if let recording {
            parts.add(timeout: .milliseconds(300), start: recording.start, stop: recording.stop(until:))
        }
        parts.add(timeout: .milliseconds(300)) { [self] in
            join(settings.configuration)
        } stop: { [group] end in
            group.stop(until: end)
        }
        parts.add(timeout: .milliseconds(900), start: dispatcher.start) {
            [actions, dispatcher, group, source, speaker] end in
            // The last word of a file or a stream acts as all others do, and so does the word that ends listening; a service that is told to
            // stop starts nothing more.
            let isAtEnd = source.hasEnded || dispatcher.isOver
            if !isAtEnd { actions.close() }
            let hasEnded = dispatcher.stop(until: min(end, Clock.now + .milliseconds(200)))
            // Words that wait for other devices are decided first.
            if isAtEnd { group.stop(until: min(end, Clock.now + .milliseconds(500))) }
            if isAtEnd { actions.finish(until: min(end, Clock.now + .milliseconds(700))) }
            if isAtEnd { speaker.finish(until: min(end, Clock.now + .milliseconds(700))) }
            actions.close()
            return hasEnded
        }
        parts.add(timeout: .milliseconds(500), start: detector.start, stop: detector.stop(until:))
        parts.add(timeout: .milliseconds(300), start: source.start, stop: source.stop(until:))
    }

    /// Ends what has no more to do after a source that has ended. Main thread, again and again.
    ///
    /// A stop gives each part a short time. Where nobody waits for it, all that was heard is decided, dispatched and recorded first,
    /// however busy the machine is.
    ///
    /// - Returns: whether all of it has ended.
    func finish() -> Bool {
        detector.stop(until: Clock.now) && dispatcher.stop(until: Clock.now) && group.stop(until: Clock.now)
            && (recording?.stop(until: Clock.now) ?? true)
    }

    /// The event of a printed text: `{"event": "print", "text"}`.
    private static func printEvent(_ line: String) -> JSON {
        ["event": "print", "text": .string(line.hasSuffix("\n") ? String(line.dropLast()) : line)]
    }

    // MARK: - On the thread of changes

    /// Uses other settings; what was heard so far is kept.
    ///
    /// - Throws: `ActionError` if a socket cannot be opened; nothing has changed then.
    func update(_ new: ServiceSettings) throws {
        let configuration = new.configuration
        // First, because only these steps can fail.
        try actions.update(configuration)
        try speaker.select(configuration.speaker)
        dispatcher.update(
            configuration,
            labels: new.vocabulary.labels,
            device: microphone == nil ? nil : configuration.device
        )
        join(configuration)
        clips.update(configuration.clips)
        misses.update(isBesideAnother ? Configuration.Misses() : configuration.misses)
        detector.update(dispatcher.numbered(new.detector))
        // One at a time may give the microphone its reference.
        if configuration.echo.reference != .speaker { feedReference(configuration) }
        microphone?.select(InputSelection(configuration))
        if configuration.echo.reference == .speaker { feedReference(configuration) }
    }

    /// Tells the microphone what the service plays, where that is the reference of its echo.
    private func feedReference(_ configuration: Configuration) {
        speaker.feed(configuration.echo.reference == .speaker ? microphone?.playedReference : nil)
    }

    /// Joins the group of a configuration, if this is the service that acts.
    private func join(_ configuration: Configuration) {
        let settings = isBesideAnother ? Configuration.Group() : configuration.group
        group.update(settings, device: configuration.mqtt.name ?? name)
    }

    /// Uses other thresholds.
    func update(thresholds new: ServiceSettings) { detector.update(dispatcher.numbered(new.detector)) }

    /// Checks that another device can be opened before the one in use is given up for it.
    ///
    /// - Returns: a note if it cannot, but no device is in use either, so that nothing is lost.
    /// - Throws: why it cannot be opened.
    func checkDevice(_ new: Configuration, besides old: Configuration) throws(CaptureError) -> String? {
        guard let microphone, new.device != old.device else { return nil }
        do throws(CaptureError) {
            try DeviceList.check(InputSelection(new))
            return nil
        } catch {
            let isInUse = [.running, .recovering].contains(microphone.status.state)
            guard isInUse else { return "the new device is waited for: \(error)" }
            throw error
        }
    }

    /// Closes or opens the microphone; never waits for the device.
    func mute(_ isMuted: Bool) throws(DaemonError) {
        guard let microphone else {
            throw DaemonError("cannot mute: the audio comes from \(played ?? "elsewhere"), not from a microphone")
        }
        // The main thread logs the change when the microphone reports it.
        if isMuted { microphone.mute() } else { microphone.unmute() }
    }
}

extension InputSelection {
    /// The device and the channels of a configuration.
    fileprivate init(_ configuration: Configuration) {
        self.init(
            device: DeviceChoice(configuration.device),
            mix: configuration.mix,
            reference: configuration.echo.device
        )
    }
}
