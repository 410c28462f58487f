public import Configuration
import Core
private import Dispatch
public import Events
import Spotting
import Synchronization
import System

/// Makes one ``DetectionEvent`` of each detection and hands it to all sinks, on a thread of its own.
///
/// It names the detection by the settings under which it was decided, drops what comes within its cool-down, and adds
/// wall clock and device.
public final class EventDispatcher: Sendable {
    public struct Counts: Equatable, Sendable {
        /// Detections that have a name.
        public var events = 0
        /// Of these, within their cool-down.
        public var suppressed = 0
    }

    private struct State {
        var names: EventNames
        /// For what was decided just before the names changed.
        var previous: EventNames?
        var device: String
        var cooldown = Cooldown()
        var counts = Counts()
        var isStopped = false
    }

    /// Where the detector's thread puts its detections.
    public let queue: DetectionQueue
    private let sinks: [any EventSink]
    private let state: Mutex<State>
    private let finished = DispatchSemaphore(value: 0)

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - labels: the detector's, in its order.
    ///   - device: what events call the capture device.
    ///   - sinks: in the order in which they get an event.
    public init(
        _ configuration: Configuration,
        labels: [String],
        device: String,
        sinks: [any EventSink]
    ) throws(DaemonError) {
        queue = try DetectionQueue()
        self.sinks = sinks
        state = Mutex(State(names: EventNames(configuration, labels: labels, generation: 1), device: device))
        _ = try SystemThread(name: "beckon-dispatch", stackSize: 512 << 10, or: DaemonError.noThread) { [self] in
            run()
            finished.signal()
        }
    }

    public var counts: Counts { state.withLock { $0.counts } }

    /// The generation that a detector under the newest configuration marks its detections with.
    public var generation: UInt32 { state.withLock { $0.names.generation } }

    /// Names words and phrases by another configuration from here on.
    ///
    /// - Parameter device: what events call the capture device from here on; nil leaves it.
    /// - Returns: the generation that a detector under this configuration marks its detections with.
    @discardableResult
    public func apply(_ configuration: Configuration, labels: [String], device: String? = nil) -> UInt32 {
        state.withLock { state in
            let names = EventNames(configuration, labels: labels, generation: state.names.generation + 1)
            state.previous = state.names
            state.names = names
            if let device { state.device = device }
            return names.generation
        }
    }

    /// Hands over what the queue still holds, and ends the thread.
    public func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            return !state.isStopped
        }
        guard isFirst else { return }
        queue.wake()
        finished.wait()
    }

    // MARK: - On the dispatcher's thread

    private func run() {
        while true {
            while let detection = queue.pop() { dispatch(detection) }
            if state.withLock({ $0.isStopped }) { break }
            queue.wait()
        }
    }

    private func dispatch(_ queued: QueuedDetection) {
        guard let event = event(for: queued) else { return }
        for sink in sinks { sink.receive(event) }
    }

    /// Nil for a detection within its cool-down, or one that the settings have no name for.
    private func event(for queued: QueuedDetection) -> DetectionEvent? {
        let detection = queued.detection
        let age = (Clock.now - queued.decided).seconds
        return state.withLock { state in
            let names = queued.generation == state.names.generation ? state.names : state.previous
            guard let names, names.generation == queued.generation, let subject = names.subject(of: detection) else {
                return nil
            }
            state.counts.events += 1
            guard state.cooldown.admits(subject, kind: detection.kind, time: detection.time) else {
                state.counts.suppressed += 1
                return nil
            }
            return DetectionEvent(
                sequence: queued.sequence,
                kind: detection.kind,
                name: subject.name,
                confidence: detection.confidence,
                start: detection.start,
                end: detection.end,
                time: detection.time,
                date: Timestamp.now.adding(seconds: -age),
                device: state.device
            )
        }
    }
}

/// What the words and phrases of one generation of settings are called, and their cool-downs.
struct EventNames: Sendable {
    struct Subject: Equatable, Sendable {
        let name: String
        /// Seconds in which it makes no other event.
        let cooldown: Double
    }

    let generation: UInt32
    private let words: [Subject]
    private let phrases: [Subject]

    /// - Parameter labels: the detector's, in its order.
    init(_ configuration: Configuration, labels: [String], generation: UInt32) {
        self.generation = generation
        words = labels.map { label in
            Subject(name: label, cooldown: configuration.words[label]?.cooldown ?? configuration.cooldown)
        }
        phrases = configuration.phrases.map { phrase in
            Subject(name: phrase.name, cooldown: phrase.cooldown ?? configuration.cooldown)
        }
    }

    /// Nil for an index that these settings do not have.
    func subject(of detection: Detection) -> Subject? {
        let subjects = detection.kind == .word ? words : phrases
        return subjects.indices.contains(detection.index) ? subjects[detection.index] : nil
    }
}

/// Remembers when each word and phrase made its last event.
struct Cooldown: Sendable {
    /// By kind and name, in seconds on the stream's clock.
    private var last: [String: Double] = [:]

    /// Whether a detection may make an event; the cool-down then starts again. The start of a phrase always may.
    mutating func admits(_ subject: EventNames.Subject, kind: Detection.Kind, time: Double) -> Bool {
        guard kind != .phrasePartial else { return true }
        let key = "\(kind.key) \(subject.name)"
        // A stream that starts again starts at 0.
        if let before = last[key], time >= before, time - before < subject.cooldown { return false }
        last[key] = time
        return true
    }
}
