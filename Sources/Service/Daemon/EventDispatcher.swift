public import Audio
public import Configuration
public import Core
public import Events
public import Spotting
import Synchronization
import System

/// Turns each detection into one ``DetectionEvent`` and passes it to all sinks, on its own thread.
///
/// It looks up the name in the settings under which the detection was decided, drops detections within their cool-down,
/// and adds wall-clock time and device.
public final class EventDispatcher: Sendable {
    /// Counts of detections since the start.
    public struct Counts: Equatable, Sendable {
        /// Detections with a known name, including the suppressed ones.
        public var events = 0
        /// Those of them that fell into their cool-down.
        public var suppressed = 0
        /// Detections under settings that are two changes old, so that their names are not known any more.
        public var unnamed = 0
        /// Those that found no room in their queue.
        public var lost: UInt64 = 0
        /// The events of each word and complete phrase, by name, and those of them that fell into their cool-down.
        public var byName: [String: Int] = [:]
        public var suppressedByName: [String: Int] = [:]
        /// Words and phrases that a loudspeaker said, which count in none of the others.
        public var ownSpeech = 0
    }

    private struct State {
        var names: EventNames
        /// For detections that were decided just before the names changed; nil before the first change.
        var previous: EventNames?
        var device: String
        var cooldown = Cooldown()
        var counts = Counts()
        /// Name of the session that is on; nil for none.
        var session: String?
        /// The last word or complete phrase.
        var newest: DetectionEvent?
        var isStopped = false

        /// Counts a detection; false within its cool-down, which what a loudspeaker said does not begin.
        mutating func admits(_ detection: Detection, _ subject: EventNames.Subject) -> Bool {
            let isWhole = detection.kind == .word || detection.kind == .phrase
            guard !detection.isOwnSpeech else {
                if isWhole { counts.ownSpeech += 1 }
                return true
            }
            if detection.kind != .nearMiss { counts.events += 1 }
            if isWhole { counts.byName[subject.name, default: 0] += 1 }
            if cooldown.admits(subject, kind: detection.kind, time: detection.time) { return true }
            counts.suppressed += 1
            counts.suppressedByName[subject.name, default: 0] += 1
            return false
        }
    }

    /// Where the detector's thread puts its detections.
    public let queue: DetectionQueue
    private let history: AudioHistory?
    private let deviceInUse: @Sendable () -> String?
    private let last: ListeningLimit.Event?
    private let over = Atomic<Bool>(false)
    private let sinks: [any EventSink]
    private let state: Mutex<State>
    private let finished = Latch()

    /// - Parameters:
    ///   - labels: the detector's labels, in its order.
    ///   - device: the name of the capture device in events.
    ///   - deviceInUse: gives the name of the device that is open, where `device` only says how to find one; nil for none.
    ///   - history: the detector's audio, in which the level of words is measured.
    ///   - last: the first event of this kind is the last one; nil for no end.
    ///   - sinks: the receivers, in the order in which they get an event; called on the dispatcher's thread.
    /// - Throws: ``DaemonError`` if the queue cannot be created.
    public init(
        _ configuration: Configuration,
        labels: [String],
        device: String,
        deviceInUse: @escaping @Sendable () -> String? = { nil },
        history: AudioHistory? = nil,
        last: ListeningLimit.Event? = nil,
        sinks: [any EventSink]
    ) throws(DaemonError) {
        queue = try DetectionQueue()
        self.history = history
        self.deviceInUse = deviceInUse
        self.last = last
        self.sinks = sinks
        state = Mutex(State(names: EventNames(configuration, labels: labels, generation: 1), device: device))
    }

    /// Starts the thread.
    ///
    /// - Throws: ``DaemonError`` if the system gives no thread.
    public func start() throws(DaemonError) {
        _ = try SystemThread(name: "beckon-dispatch", stackSize: 512 << 10, or: DaemonError.noThread) { [self] in
            run()
            finished.open()
        }
    }

    /// Whether the event that is the last one was dispatched. Any thread.
    public var isOver: Bool { over.load(ordering: .acquiring) }

    /// The counts so far. Any thread.
    public var counts: Counts {
        var counts = state.withLock { $0.counts }
        counts.lost = queue.droppedCount
        return counts
    }

    /// Name of the session that is on, which is its wake word; nil for none. Any thread.
    public var session: String? { state.withLock { $0.session } }
    /// The last word or complete phrase that was dispatched; nil before the first. Any thread.
    public var newestEvent: DetectionEvent? { state.withLock { $0.newest } }

    /// The generation of the newest configuration; the detector copies it to its detections.
    public var generation: UInt32 { state.withLock { $0.names.generation } }

    /// Settings with the number of the newest configuration, whose detections get its names. Any thread.
    public func numbered(_ settings: DetectorSettings) -> DetectorSettings {
        var settings = settings
        settings.generation = generation
        return settings
    }

    /// Uses the names and cool-downs of another configuration from now on.
    ///
    /// - Parameter device: the new name of the capture device in events; nil keeps the old one.
    /// - Returns: the generation for the detector's settings under this configuration.
    @discardableResult
    public func update(_ configuration: Configuration, labels: [String], device: String? = nil) -> UInt32 {
        state.withLock { state in
            if let device { state.device = device }
            var names = EventNames(configuration, labels: labels, generation: state.names.generation)
            guard names != state.names else { return names.generation }
            names.generation += 1
            (state.previous, state.names) = (state.names, names)
            return names.generation
        }
    }

    /// Dispatches the detections left in the queue, ends the thread and waits for it.
    ///
    /// - Parameter time: when to give up, on the monotonic clock; nil: never.
    /// - Returns: whether the thread has ended.
    @discardableResult
    public func stop(until time: Instant? = nil) -> Bool {
        state.withLock { $0.isStopped = true }
        queue.wake()
        return finished.wait(until: time)
    }

    // MARK: - On the dispatcher's thread

    private func run() {
        while true {
            // Asked first: what was queued before the stop is dispatched.
            let isStopped = state.withLock { $0.isStopped }
            while let detection = queue.pop() { dispatch(detection) }
            if isStopped { break }
            queue.wait()
        }
    }

    private func dispatch(_ queued: QueuedDetection) {
        guard !isOver, let event = event(for: queued) else { return }
        guard !event.isOwnSpeech else {
            for sink in sinks { sink.withheld(event, .ownSpeech) }
            return
        }
        for sink in sinks { sink.receive(event) }
        if isLast(event) { over.store(true, ordering: .releasing) }
    }

    private func isLast(_ event: DetectionEvent) -> Bool {
        switch (last, event.kind) {
        case (.word, .word): state.withLock { !$0.names.startsSession(event.name) }
        case (.word, .phrase), (.phrase, .phrase): true
        default: false
        }
    }

    /// The event of a detection; nil within its cool-down, or if the settings have no name for it.
    private func event(for queued: QueuedDetection) -> DetectionEvent? {
        let detection = queued.detection
        let age = (Clock.now - queued.decided).seconds
        let sound = sound(of: detection)
        let inUse = deviceInUse()
        return state.withLock { state in
            let names = queued.generation == state.names.generation ? state.names : state.previous
            guard let names, names.generation == queued.generation, let subject = names.subject(of: detection) else {
                state.counts.unnamed += 1
                return nil
            }
            if detection.kind.isSession { state.session = detection.kind == .sessionStart ? subject.name : nil }
            guard state.admits(detection, subject) else { return nil }
            let event = DetectionEvent(
                detection,
                sequence: queued.sequence,
                name: subject.name,
                date: Timestamp.now.adding(seconds: -age),
                device: inUse ?? state.device,
                session: names.session(of: detection),
                sound: sound
            )
            if event.isWhole, !event.isOwnSpeech { state.newest = event }
            return event
        }
    }
}

extension EventDispatcher {
    /// How loud a word or phrase was; nil for other kinds, and without its audio.
    private func sound(of detection: Detection) -> WordLevel? {
        guard let history, [.word, .phrase, .nearMiss].contains(detection.kind) else { return nil }
        let rate = Double(AudioHistory.sampleRate)
        let start = Int(max(0, detection.start) * rate)
        let first = max(0, start - Int(WordLevel.lookBehind * rate))
        let end = max(start, Int(detection.end * rate))
        // A phrase may be longer than the history, whose oldest samples are then left out.
        let samples = history.samples(first..<end)
        let missing = max(0, min(end, history.count) - first - samples.count)
        return WordLevel(samples: samples, start: max(0, start - first - missing))
    }
}

/// The names and cool-downs of the words and phrases, for one generation of settings.
struct EventNames: Equatable, Sendable {
    struct Subject: Equatable, Sendable {
        let name: String
        /// Seconds after an event in which the same word or phrase causes no other event.
        let cooldown: Double
    }

    var generation: UInt32
    private let words: [Subject]
    private let phrases: [Subject]
    private let sessions: [Subject]

    /// - Parameter labels: the detector's labels, in its order.
    init(_ configuration: Configuration, labels: [String], generation: UInt32) {
        self.generation = generation
        words = labels.map { label in
            Subject(name: label, cooldown: configuration.words[label]?.cooldown ?? configuration.cooldown)
        }
        phrases = configuration.phrases.map { phrase in
            Subject(name: phrase.name, cooldown: phrase.cooldown ?? configuration.cooldown)
        }
        sessions = configuration.sessions.map { Subject(name: $0.wake, cooldown: 0) }
    }

    /// Whether a word is the wake word of a session.
    func startsSession(_ word: String) -> Bool { sessions.contains { $0.name == word } }

    /// The session that a word belongs to; nil for none.
    func session(of detection: Detection) -> String? {
        detection.session.flatMap { sessions.indices.contains($0) ? sessions[$0].name : nil }
    }

    /// The word, phrase or session of a detection; nil if these settings do not have its index.
    func subject(of detection: Detection) -> Subject? {
        let subjects =
            switch detection.kind {
            case .word, .nearMiss: words
            case .phrase, .phrasePartial: phrases
            case .sessionStart, .sessionEnd, .sessionTimeout: sessions
            }
        return subjects.indices.contains(detection.index) ? subjects[detection.index] : nil
    }
}

/// Remembers when each word and phrase caused its last event.
struct Cooldown: Sendable {
    /// By kind and name, in seconds of stream time.
    private var last: [String: Double] = [:]

    /// Whether a detection may cause an event; if so, its cool-down starts again. Only words and complete phrases have one.
    mutating func admits(_ subject: EventNames.Subject, kind: Detection.Kind, time: Double) -> Bool {
        guard kind == .word || kind == .phrase else { return true }
        let key = "\(kind.key) \(subject.name)"
        // A restarted stream counts from 0, so `time` may be less than `before`.
        if let before = last[key], time >= before, time - before < subject.cooldown { return false }
        last[key] = time
        return true
    }
}
