public import Audio
public import Configuration
public import Control
public import DeviceGroup
public import Events
public import Metrics
public import Playback
public import System

/// The running service, as integrations know it.
///
/// All members may be used on any thread, and none waits: not for a device, a disk or the detector.
public protocol Service: Sendable {
    /// The name of the machine, readable.
    var machine: String { get }
    /// Which one of several services it is; nil for the one without a name.
    var instance: Instance? { get }
    var log: ServiceLog { get }
    var share: MachineShare { get }
    /// The detector's audio; nil where no detector listens.
    var history: AudioHistory? { get }
    /// The settings in force: configuration, vocabulary, thresholds.
    var currentSettings: ServiceSettings { get }
    /// The state now.
    var state: ServiceState { get }
    /// What is heard now; empty where no detector listens.
    var live: LiveState { get }
    /// The group of devices that it may belong to; nil where no detector listens.
    var group: GroupSink? { get }
    /// Plays sounds and speech, if the configuration names a device for it; nil where no detector listens.
    var speaker: Speaker? { get }
    /// The metrics of the service and of all integrations.
    var metrics: [MetricFamily] { get }
    /// How far the teaching of a word is; nil where no detector listens.
    var teaching: TeachingState? { get }
    /// The recent words of the wake-word server's clients, the oldest first; nil if none are kept.
    var clientWords: [ClientWord]? { get }
    /// The clients of the wake-word server that have sent audio; nil where their sound cannot be shown.
    var clients: [StreamClient]? { get }
    /// What is heard of a client: its level and scores, as ``live`` has them for the service's own audio; nil if there is no such client. Its
    /// sound is kept from now on, for some seconds.
    func live(ofClient number: Int) -> (state: LiveState, history: AudioHistory)?
    /// Takes a word or phrase of a client, for the log and for those who are shown what is heard. Any thread.
    func heard(_ event: DetectionEvent)

    /// What Home Assistant needs to know of the voice satellite, for those who may hear what is said; nil without one that has a key.
    var satelliteKey: SatelliteKey? { get }

    /// Why the service detects no words now; nil if it does.
    var problem: String? { get }

    /// Carries out a command, as a client of the control socket gives it; see `ControlPerformer`. Changes of settings end in
    /// `Daemon.apply`, one after the other; what was changed shows in ``state`` and ``currentSettings``.
    func perform(_ command: ControlCommand, _ later: @escaping @Sendable (ControlReply) -> Void) -> ControlReply?

    /// Takes a change of what the voice assistant does: clients of the control socket that want events are told, and its actions are started.
    func tell(_ change: AssistantChange)

    /// The sound of a take of the word that is being taught, `[samples]` at 16 kHz; nil if there is none of this number, from 0 on. It is
    /// for those who may hear what is said.
    func take(_ number: Int) -> [Float]?
}

extension Service {
    public var instance: Instance? { nil }
    public var group: GroupSink? { nil }
    public var speaker: Speaker? { nil }
    public var satelliteKey: SatelliteKey? { nil }
    public var teaching: TeachingState? { nil }
    public func take(_ number: Int) -> [Float]? { nil }
    public func tell(_ change: AssistantChange) {}
    public var clientWords: [ClientWord]? { nil }
    public var clients: [StreamClient]? { nil }
    public func live(ofClient number: Int) -> (state: LiveState, history: AudioHistory)? { nil }
    public func heard(_ event: DetectionEvent) {}

    /// Whether there is sound to show on a page: that of a microphone, or of clients.
    public var hasPage: Bool { history != nil || clients != nil }

    /// What the service is called where it must be told from others: by its instance, else by its machine.
    public var name: String { instance?.name ?? machine }
}

/// How much of the machine an integration may take for work that grows with its clients.
public struct MachineShare: Equatable, Sendable {
    public var threads: Int
    /// How much lower than other threads' the priority of these threads is, 0–19.
    public var niceness: Int

    /// - Parameters: by default those beside a detector, which goes first.
    public init(threads: Int = 1, niceness: Int = 10) {
        self.threads = threads
        self.niceness = niceness
    }
}
