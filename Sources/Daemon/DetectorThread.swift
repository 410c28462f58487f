public import Audio
import Core
private import Dispatch
import Inference
import Spotting
import Synchronization
import System

/// Runs the detector over a source of audio on a thread of its own, until it is stopped or the source ends.
public final class DetectorThread: Sendable {
    private let ends: DetectorLoop.Ends
    private let isStopping = Atomic<Bool>(false)
    private let hasStopped = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - settings: what to decide by; the model is warmed up before this returns.
    ///   - queue: gets the detections.
    ///   - history: gets the audio that was heard.
    /// - Throws: ``DaemonError``.
    public init(
        source: any AudioSource,
        settings: DetectorSettings,
        queue: DetectionQueue,
        history: AudioHistory
    ) throws(DaemonError) {
        ends = DetectorLoop.Ends(source: source, queue: queue, history: history)
        let isReady = DispatchSemaphore(value: 0)
        _ = try SystemThread(name: "beckon-detector", stackSize: 1 << 20, or: DaemonError.noThread) { [self] in
            var loop = DetectorLoop(settings, ends)
            isReady.signal()
            while !isStopping.load(ordering: .relaxed), !ends.source.hasEnded {
                // Longer than a block takes to come, so that it wakes for blocks alone; new settings wait no longer either.
                loop.step(ends, until: Clock.now + AudioFormat.hopDuration * 3)
            }
            hasStopped.signal()
        }
        isReady.wait()
    }

    public var status: DetectorStatus { ends.record.status }

    /// Decides by other settings from the next hop on. Any thread.
    public func apply(_ settings: DetectorSettings) { ends.settings.post(settings) }

    /// Returns when the detector hears no more.
    public func stop() {
        guard !isStopping.exchange(true, ordering: .relaxed) else { return }
        hasStopped.wait()
    }
}

/// What the detector's thread does: runs the detector on block after block, and queues its detections.
///
/// Between two changes of settings nothing allocates, locks, logs or waits, but for the next block. Audio that comes late
/// is never heard late: the loop skips whole blocks until it is up to date again, and counts them.
struct DetectorLoop: ~Copyable {
    /// Where things come from and go to; retained once for the whole loop.
    final class Ends: Sendable {
        let source: any AudioSource
        let queue: DetectionQueue
        let history: AudioHistory
        let settings = Mailbox<DetectorSettings>()
        let record = DetectorRecord()

        init(source: any AudioSource, queue: DetectionQueue, history: AudioHistory) {
            self.source = source
            self.queue = queue
            self.history = history
        }
    }

    /// Older blocks are skipped.
    static let maxAge = Duration.milliseconds(500)

    private var settings: DetectorSettings
    private var detector: Detector
    private var sequence: UInt64 = 0
    /// The block before was too late to be heard.
    private var hasSkipped = false

    init(_ settings: DetectorSettings, _ ends: Ends) {
        self.settings = settings
        detector = Detector(
            settings.vocabulary,
            settings: settings.gate,
            thresholds: settings.thresholds,
            phrases: settings.phrases
        )
        ends.record.prepare(labels: settings.vocabulary.labels.count)
    }

    /// Waits for a block until a time on the monotonic clock, and runs the detector on it.
    mutating func step(_ ends: Ends, until time: Instant) {
        if let new = ends.settings.take() { apply(new, ends) }
        _ = ends.source.next(until: time) { window, block in process(window, block, ends) }
    }

    private mutating func process(_ window: Span<Float>, _ block: AudioBlock, _ ends: Ends) {
        let began = Clock.now
        if block.missed > 0 { ends.record.dropped.add(block.missed, ordering: .relaxed) }
        guard began - block.time < Self.maxAge else {
            hasSkipped = true
            ends.record.dropped.add(1, ordering: .relaxed)
            return
        }
        if !block.continues || hasSkipped {
            hasSkipped = false
            detector.flush()
            // The first block follows nothing.
            if ends.record.hops.load(ordering: .relaxed) > 0 { ends.record.gaps.add(1, ordering: .relaxed) }
        }
        let generation = settings.generation
        var sequence = sequence
        detector.process(window: window) { detection in
            sequence += 1
            ends.queue.push(
                QueuedDetection(detection, decided: began, generation: generation, sequence: sequence)
            )
        }
        self.sequence = sequence
        ends.history.add(window)
        ends.record.note(detector.scores.span, began: began, ended: Clock.now)
    }

    /// Takes other settings; the audio heard is kept, where the model is another one too. This allocates, once a change.
    private mutating func apply(_ new: DetectorSettings, _ ends: Ends) {
        if new.vocabulary.labels.count != settings.vocabulary.labels.count {
            ends.record.prepare(labels: new.vocabulary.labels.count)
        }
        settings = new
        detector.apply(new.vocabulary, settings: new.gate, thresholds: new.thresholds, phrases: new.phrases)
    }
}
