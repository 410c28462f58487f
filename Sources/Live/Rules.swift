public import Spotting
import Synchronization

/// What a detector decides by; changed while it runs.
public struct Rules: Sendable {
    public var vocabulary: Vocabulary
    public var gate: GateSettings
    public var thresholds: Thresholds
    public var phrases: [Phrase]
    /// What the events of this detector are marked with.
    public var generation: UInt32

    public init(
        vocabulary: Vocabulary,
        gate: GateSettings,
        thresholds: Thresholds,
        phrases: [Phrase],
        generation: UInt32
    ) {
        self.vocabulary = vocabulary
        self.gate = gate
        self.thresholds = thresholds
        self.phrases = phrases
        self.generation = generation
    }
}

/// New rules on their way to the detector's thread, which looks for them every hop and never waits for them.
final class SettingsMailbox: Sendable {
    private let isFull = Atomic<Bool>(false)
    private let rules = Mutex<Rules?>(nil)

    /// Those posted before and not taken yet are forgotten.
    func post(_ new: Rules) {
        rules.withLock {
            $0 = new
            isFull.store(true, ordering: .releasing)
        }
    }

    /// The newest rules, once; nil also where they are just being posted: they are there at the next hop.
    func take() -> Rules? {
        guard isFull.load(ordering: .acquiring) else { return nil }
        let taken = rules.withLockIfAvailable { rules -> Rules? in
            isFull.store(false, ordering: .releasing)
            return rules.take()
        }
        return taken ?? nil
    }
}
