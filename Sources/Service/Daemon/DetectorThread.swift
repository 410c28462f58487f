public import Audio
public import Core
public import Input
public import Spotting
import Synchronization
import System

/// Runs the detector over a source of audio on a thread of its own, until it is stopped or the source ends.
public final class DetectorThread: Sendable {
    private let ends: DetectorLoop.Endpoints
    private let initial: DetectorSettings
    private let isStopping = Atomic<Bool>(false)
    private let hasStopped = Latch()

    /// - Parameters:
    ///   - settings: the initial settings.
    ///   - queue: receives the detections.
    ///   - history: receives the audio of every processed block.
    public init(
        source: any AudioSource,
        settings: DetectorSettings,
        queue: DetectionQueue,
        history: AudioHistory
    ) {
        ends = DetectorLoop.Endpoints(source: source, queue: queue, history: history)
        initial = settings
    }

    /// Starts the thread; the model is warmed up before this returns.
    ///
    /// - Throws: ``DaemonError`` if the system gives no thread.
    public func start() throws(DaemonError) {
        let isReady = Latch()
        _ = try SystemThread(name: "beckon-detector", stackSize: 1 << 20, or: DaemonError.noThread) { [self] in
            var loop = DetectorLoop(initial, ends)
            isReady.open()
            while !isStopping.load(ordering: .relaxed), !ends.source.hasEnded {
                // 300 ms: longer than a hop, so normally only a block wakes it; yet a stop or new settings wait no
                // longer than this if no audio comes.
                if !waitsForReaders { loop.step(ends, until: Clock.now + AudioFormat.hopDuration * 3) }
            }
            if ends.source.hasEnded { loop.finish(ends) }
            hasStopped.open()
        }
        isReady.wait()
    }

    /// Waits a moment where recordings and clips are behind a source that can wait.
    private var waitsForReaders: Bool {
        guard ends.source.waits, ends.history.isFull else { return false }
        Clock.sleep(until: Clock.now + .milliseconds(2))
        return true
    }

    /// The counters and the newest scores. Any thread.
    public var status: DetectorStatus { ends.record.status }

    /// Applies other settings from the next hop on. Any thread.
    public func update(_ settings: DetectorSettings) { ends.settings.post(settings) }

    /// Stops the detector; returns when its thread is done with the last block.
    ///
    /// - Parameter time: when to give up, on the monotonic clock; nil: never.
    /// - Returns: whether the thread has ended.
    @discardableResult
    public func stop(until time: Instant? = nil) -> Bool {
        isStopping.store(true, ordering: .relaxed)
        return hasStopped.wait(until: time)
    }
}

/// The work of the detector's thread: runs the detector on each block, and queues its detections.
///
/// Between two changes of settings it does not allocate, lock or log, and waits only for the next block. Late audio is
/// not processed, unless its source waits: the loop skips and counts whole blocks until it has caught up.
struct DetectorLoop: ~Copyable {
    /// Where a loop's audio comes from and its detections go; retained once for the whole loop.
    final class Endpoints: Sendable {
        let source: any AudioSource
        let queue: DetectionQueue
        let history: AudioHistory
        let settings = Mailbox<DetectorSettings>()
        let record: DetectorRecord

        init(source: any AudioSource, queue: DetectionQueue, history: AudioHistory) {
            self.source = source
            self.queue = queue
            self.history = history
            record = DetectorRecord(source.lost)
        }
    }

    /// Blocks older than this are skipped, unless their source waits.
    static let maxAge = Duration.milliseconds(500)

    private var detector: Detector
    /// That of the detector's settings, kept here because a hop copies no more of them.
    private var generation: UInt32
    private var sequence: UInt64 = 0
    /// What a loudspeaker played during the newest block; empty without a reference.
    private var played: [Float]
    /// Whether the previous block was skipped because it was late.
    private var hasSkipped = false
    /// Whether the settings have changed since the last hop.
    private var hasChanged = false

    init(_ settings: DetectorSettings, _ ends: Endpoints) {
        detector = Detector(settings)
        generation = settings.generation
        played = Self.blockOfPlayed(settings)
        ends.record.prepare(labels: settings.vocabulary.labels.count)
    }

    /// Applies new settings, waits for a block until `time` on the monotonic clock, and runs the detector on it.
    mutating func step(_ ends: Endpoints, until time: Instant) {
        if let new = ends.settings.take() { update(new, ends) }
        _ = ends.source.next(until: time) { window, block in process(window, block, ends) }
    }

    private mutating func process(_ window: Span<Float>, _ block: AudioBlock, _ ends: Endpoints) {
        let began = Clock.now
        let isLate = began - block.time >= Self.maxAge && !ends.source.waits
        if hasChanged { ends.record.lost.note(.settings, blocks: block.missed + (isLate ? 1 : 0)) }
        guard !isLate else {
            ends.record.lost.note(.late, blocks: 1)
            hasSkipped = true
            return
        }
        hasChanged = false
        if !block.continues || hasSkipped {
            hasSkipped = false
            detector.flush()
            // Before the first block there is nothing to continue, so it is no gap.
            if ends.record.hops.load(ordering: .relaxed) > 0 { ends.record.gaps.add(1, ordering: .relaxed) }
        }
        // First, because the dispatcher measures the word's level in it.
        ends.history.add(window)
        let generation = generation
        var sequence = sequence
        // A span of a property would borrow all of `self`.
        var played: [Float] = []
        swap(&played, &self.played)
        let isKnown = !played.isEmpty && ends.source.copyPlayed(to: &played)
        detector.process(window: window, played: played.span.extracting(first: isKnown ? .max : 0)) {
            Self.queue($0, began, generation, &sequence, ends)
        }
        swap(&played, &self.played)
        self.sequence = sequence
        let ended = Clock.now
        ends.record.note(looks: detector.looks, refused: detector.refusals, took: ended - began)
        ends.record.note(detector.scores.span, began: began, ended: ended) { detector.setRisingScores(in: &$0) }
    }

    /// Decides what is pending where the source has ended.
    mutating func finish(_ ends: Endpoints) {
        let (now, generation) = (Clock.now, generation)
        var sequence = sequence
        detector.finish { Self.queue($0, now, generation, &sequence, ends) }
        self.sequence = sequence
        ends.record.note(looks: detector.looks, refused: detector.refusals, took: Clock.now - now)
    }

    private static func queue(
        _ detection: Detection,
        _ decided: Instant,
        _ generation: UInt32,
        _ sequence: inout UInt64,
        _ ends: Endpoints
    ) {
        // A near miss is no event for clients, who take a gap in the numbers for a loss.
        if detection.kind != .nearMiss { sequence += 1 }
        ends.queue.push(
            QueuedDetection(detection: detection, decided: decided, generation: generation, sequence: sequence)
        )
    }

    private static func blockOfPlayed(_ settings: DetectorSettings) -> [Float] {
        [Float](repeating: 0, count: settings.marksOwnSpeech ? AudioFormat.hopSamples : 0)
    }

    /// Applies other settings and keeps the audio heard so far, even if the model changes. Allocates, once per change.
    private mutating func update(_ new: DetectorSettings, _ ends: Endpoints) {
        if new.vocabulary.labels.count != detector.settings.vocabulary.labels.count {
            ends.record.prepare(labels: new.vocabulary.labels.count)
        }
        let old = generation
        generation = new.generation
        hasChanged = true
        played = Self.blockOfPlayed(new)
        ends.record.changes.add(1, ordering: .relaxed)
        guard let lost = detector.update(new) else { return }
        sequence += 1
        ends.queue.push(QueuedDetection(detection: lost, decided: Clock.now, generation: old, sequence: sequence))
    }
}
