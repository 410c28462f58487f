import Actions
import Audio
import Core
import Inference
import Spotting
import Synchronization
import System

/// What the detector's thread does: hears block after block, and hands over what it heard.
///
/// Between two changes of rules nothing allocates, locks, logs or waits, but for the next block. Audio that comes late
/// is never heard late: the loop leaves out whole blocks until it is up to date again, and counts them.
struct DetectorLoop: ~Copyable {
    /// Where things come from and go to; held once for the whole loop.
    final class Ends: Sendable {
        let source: any AudioSource
        let events: EventInbox
        let rules = Mailbox<Rules>()
        let record = DetectorRecord()
        let tape = AudioHistory()

        init(source: any AudioSource, events: EventInbox) {
            self.source = source
            self.events = events
        }
    }

    /// Older blocks are left out.
    static let maxAge = Duration.milliseconds(500)

    private var rules: Rules
    private var detector: Detector
    /// The block before was too late to be heard.
    private var hasSkipped = false

    init(rules: Rules, _ ends: Ends) {
        self.rules = rules
        detector = Detector(
            rules.vocabulary,
            settings: rules.gate,
            thresholds: rules.thresholds,
            phrases: rules.phrases
        )
        ends.record.prepare(labels: rules.vocabulary.labels.count)
    }

    /// Waits for a block until a time on the monotonic clock, and hears it.
    mutating func step(_ ends: Ends, until time: Instant) {
        if let new = ends.rules.take() { adopt(new, ends) }
        _ = ends.source.next(until: time) { window, block in hear(window, block, ends) }
    }

    private mutating func hear(_ window: Span<Float>, _ block: AudioBlock, _ ends: Ends) {
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
        let generation = rules.generation
        detector.process(window: window) { detection in
            ends.events.offer(HeardEvent(detection, decided: began, generation: generation))
        }
        ends.tape.add(window)
        ends.record.note(detector.scores.span, began: began, ended: Clock.now)
    }

    /// Other rules; what was heard is kept, where the model is another one too. This allocates, once a change.
    private mutating func adopt(_ new: Rules, _ ends: Ends) {
        if new.vocabulary.labels.count != rules.vocabulary.labels.count {
            ends.record.prepare(labels: new.vocabulary.labels.count)
        }
        rules = new
        detector.apply(new.vocabulary, settings: new.gate, thresholds: new.thresholds, phrases: new.phrases)
    }
}
