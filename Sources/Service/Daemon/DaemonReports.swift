import Actions
public import Audio
import Capture
import Configuration
import Control
import Core
import DeviceGroup
public import Events
import Inference
import Input
public import IntegrationInterface
import JSON
public import Metrics
import Network
import Playback
import Spotting
import Synchronization
import System
private import WakeWords
import Web
import Wyoming

/// What the service tells of itself: what is heard, its state, status and metrics. Any thread.
extension Daemon {
    /// What is heard now, as the terminal and the live page show it. Any thread.
    public var live: LiveState {
        let settings = currentSettings
        var live = LiveState()
        live.confirmation = settings.vocabulary.model.confirmationState
        guard let pipeline else {
            live.problem = server.map(\.problem) ?? "it cannot listen for clients"
            live.classes = classes(of: settings, clients: true, [])
            return live
        }
        let capture = pipeline.microphone?.status
        live.source = pipeline.played ?? capture?.device ?? ""
        live.problem = pipeline.source.trouble
        live.isMuted = capture.map { $0.state == .muted }
        live.rate = capture?.format?.rate
        live.echoReduction = capture?.echoReduction
        let progress = pipeline.source.progress
        (live.position, live.length) = (progress?.seconds, progress?.length)
        live.session = pipeline.dispatcher.session
        let isHeard = capture.map { $0.state == .running || $0.state == .recovering } ?? true
        let block = isHeard ? pipeline.history.newestBlock : (level: 0, peak: 0)
        (live.level, live.peak) = (decibels(amplitude: block.level), decibels(amplitude: block.peak))
        let scores = isHeard ? pipeline.detector.status.scores : []
        live.classes = classes(of: settings, clients: false, scores)
        return live
    }

    /// What is heard of a client, whose sound is kept from now on.
    public func live(ofClient number: Int) -> (state: LiveState, history: AudioHistory)? {
        guard let (client, sound) = server?.watch(number, for: .seconds(3)) else { return nil }
        let settings = currentSettings
        var live = LiveState()
        live.confirmation = settings.vocabulary.model.confirmationState
        live.source = client.name
        live.problem = client.isStreaming ? nil : "sends no audio now"
        let block = client.isStreaming ? sound.history.newestBlock : (level: 0, peak: 0)
        (live.level, live.peak) = (decibels(amplitude: block.level), decibels(amplitude: block.peak))
        live.classes = classes(of: settings, clients: true, client.isStreaming ? sound.scores : [])
        return (live, sound.history)
    }

    /// The classes with their scores, and with the thresholds for the service's own audio, or those for clients.
    private func classes(of settings: ServiceSettings, clients: Bool, _ scores: [Float]) -> [LiveState.Class] {
        let thresholds = clients ? settings.streamDetector?.thresholds ?? settings.thresholds : settings.thresholds
        let bound = clients ? [] : Set(settings.sessions.flatMap(\.words))
        let wakeWords = settings.vocabulary.wakeWords.map(\.name)
        let modelWords = settings.vocabulary.modelWords.count
        return zip(settings.vocabulary.labels, thresholds.values).enumerated().map { index, label in
            let isSpecial = Labels.isSpecial(label.0)
            return LiveState.Class(
                name: label.0,
                kind: isSpecial ? .special : index < modelWords || wakeWords.contains(label.0) ? .word : .taught,
                score: scores.indices.contains(index) ? scores[index] : 0,
                threshold: isSpecial ? nil : label.1,
                isInSession: bound.contains(index)
            )
        }
    }

    public var state: ServiceState {
        let capture = pipeline?.microphone?.status
        return ServiceState(
            currentSettings,
            isMuted: capture.map { $0.state == .muted },
            hasAudio: capture.map(Self.hasAudio) ?? pipeline.map { !$0.source.hasEnded } ?? false,
            level: capture.flatMap { $0.state == .running ? decibels(amplitude: $0.level) : nil }
        )
    }

    /// Time from the start in which a device may open and give its first audio without being called a problem.
    private static let openingTime = Duration.seconds(5)

    private static func hasAudio(_ capture: CaptureStatus) -> Bool? {
        if [.running, .recovering, .muted].contains(capture.state) { return true }
        let isOpening = capture.state == .waiting && capture.problem.isEmpty && Clock.now - capture.since < openingTime
        return isOpening ? nil : false
    }

    /// Time after the newest hop in which the service counts as ready.
    private static let readyTime = Duration.seconds(5)

    /// Why no audio is scored now; nil if it is.
    public var problem: String? {
        guard let pipeline else { return server.map(\.problem) ?? "it cannot listen for clients" }
        if let capture = pipeline.microphone?.status {
            switch capture.state {
            case .running, .recovering: break
            case .waiting, .lost: return "no microphone" + (capture.problem.isEmpty ? "" : ": \(capture.problem)")
            case .muted: return "the microphone is muted"
            case .stopped: return "the service is stopping"
            }
        }
        if let newest = pipeline.detector.status.newestHop, Clock.now - newest < Self.readyTime { return nil }
        return "no audio was scored for \(decimal(Self.readyTime.seconds, 0)) s"
    }

    public var metrics: [MetricFamily] {
        var values = ServiceMetrics(currentSettings)
        values.isReady = problem == nil
        guard let pipeline else { return values.families + integrations.metrics }
        values.detector = pipeline.detector.status
        values.events = pipeline.dispatcher.counts
        values.capture = pipeline.microphone?.status
        values.reference = pipeline.microphone?.referenceStatus
        values.actions = pipeline.actions.counts
        values.clips = pipeline.clips.counts
        values.droppedLines = droppedLines
        let group = pipeline.group.name == nil ? [] : pipeline.group.counts.metrics
        return values.families + group + (pipeline.speaker.counts?.metrics ?? []) + integrations.metrics
    }

    private var droppedLines: DroppedLines {
        DroppedLines(output: setup.output.counts.dropped, log: setup.logOutput.counts.dropped)
    }

    public var clientWords: [ClientWord]? { server?.clientWords }
    public var clients: [StreamClient]? { server?.clients ?? (pipeline == nil ? [] : nil) }

    /// Lines of words of clients in a second; further ones are counted, as a client may send audio faster than it is spoken.
    private static let mostHeard = 20

    public func heard(_ event: DetectionEvent) {
        let (isLogged, others) = heardLately.withLock { lately in
            let now = Clock.now
            let others = now - lately.start >= .seconds(1) ? max(0, lately.count - Self.mostHeard) : 0
            if now - lately.start >= .seconds(1) { lately = (now, 0) }
            lately.count += 1
            return (lately.count <= Self.mostHeard, others)
        }
        if others > 0 { log.write(.info, "\(counted(others, "further word")) of clients within a second") }
        if isLogged {
            log.write(
                .info,
                "\(printable(event.client ?? "")): heard \(printable(event.name)) (\(percent(event.confidence)))",
                fields: event.journalFields()
            )
        }
        // Who follows the events of a service with a microphone waits for what that hears.
        if pipeline == nil { control?.receive(event) }
        integrations.running(WebServer.self)?.receive(event)
    }

    var status: ServiceStatus {
        let settings = currentSettings
        let vocabulary = settings.vocabulary
        var status = ServiceStatus()
        (status.instance, status.version, status.model) = (instance?.name, version, vocabulary.model.name)
        status.confirmation = vocabulary.model.confirmationState.rawValue
        status.choices = ServiceStatus.Choices(settings.choices)
        status.missing = vocabulary.missing
        status.mode = settings.configuration.gate.mode.rawValue
        status.webListen = settings.configuration.web.listen.map(\.description)
        status.stateFolder = StateFolder.path(of: instance)
        status.thresholds = settings.wordThresholds.filter { $0.threshold != nil }.map(ServiceStatus.Threshold.init)
        guard let pipeline else {
            var parts = integrations.status
            if let control { parts.append(JSON.Member("clients", control.counts.json)) }
            status.parts = parts
            return status
        }
        let (capture, detector) = (pipeline.microphone?.status, pipeline.detector.status)
        let dispatcher = pipeline.dispatcher
        status.input = ServiceStatus.Input(state: "running")
        status.input?.device = pipeline.played ?? ""
        if let capture {
            status.input = ServiceStatus.Input(capture)
            if settings.configuration.echo.reference != nil {
                status.input?.echo = ServiceStatus.Echo(capture, reference: pipeline.microphone?.referenceStatus)
                if settings.configuration.echo.reference == .speaker { status.input?.echo?.device = "speaker" }
            }
        }
        var counts = detector.json
        counts.append(["audio": capture.map { AudioAccount($0, detector).json }])
        counts.append(dispatcher.counts.members + pipeline.actions.counts.members)
        counts.append(["clips": pipeline.clips.counts.json, "droppedLines": droppedLines.json])
        status.counts = counts.members
        var parts: JSON = [:]
        parts.append(["misses": pipeline.misses.counts?.json])
        if let name = pipeline.group.name {
            parts.append(["group": .object([JSON.Member("name", .string(name))] + pipeline.group.counts.members)])
        }
        parts.append(["speaker": pipeline.speaker.counts?.json])
        parts.append(integrations.status)
        parts.append(["clients": control?.counts.json])
        status.parts = parts.members
        if !settings.sessions.isEmpty {
            status.session = dispatcher.session
            status.sessions = settings.sessions.map { ServiceStatus.Session($0, labels: vocabulary.labels) }
        }
        status.newest = dispatcher.newestEvent.map(ServiceStatus.Newest.init)
        return status
    }

    // MARK: - Of a service that only serves clients

    var server: WyomingServer? { integrations.running(WyomingServer.self) }

    /// What systemd shall know of it.
    var clientHealth: Watchdog.Health {
        guard let server else {
            return Watchdog.Health(status: "Serving no clients, as it cannot listen; see the log")
        }
        return Watchdog.Health(
            lastProgress: server.lastProgress,
            status:
                "Serving \(counted(server.connections, "client")); \(counted(server.counts.detections, "word")) heard"
        )
    }

    /// What it did, as a line for the log; nil while it cannot listen.
    var clientReport: String? {
        server.map(\.counts).map { counts in
            "\(counted(counts.accepted, "client")), \(counted(counts.detections, "word")); "
                + (counts.dropped > 0 ? "dropped: \(counts.droppedText)" : "none dropped")
        }
    }
}

extension AudioHistory {
    /// The root mean square and the largest sample of the newest block; full scale is 1. Any thread.
    fileprivate var newestBlock: (level: Float, peak: Float) {
        let count = count
        let samples = samples(max(0, count - AudioFormat.hopSamples)..<count)
        guard !samples.isEmpty else { return (0, 0) }
        let energy = samples.reduce(0) { $0 + $1 * $1 } / Float(samples.count)
        return (energy.squareRoot(), samples.reduce(0) { max($0, $1.magnitude) })
    }
}
