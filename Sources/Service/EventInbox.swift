import Glibc
import Linux
public import Spotting
import Synchronization

/// What the detector's thread hands over: plain numbers, whose names are looked up on the other side.
public struct HeardEvent: Sendable {
    public let detection: Detection
    /// When it was decided, on the monotonic clock in nanoseconds.
    public let decided: Int64
    /// Which configuration the detector followed, as ``ActionRunner/apply(_:labels:)`` numbered it.
    public let generation: UInt32
    /// Counts all events from 1.
    fileprivate(set) var sequence: UInt64 = 0

    public init(_ detection: Detection, decided: Int64, generation: UInt32) {
        self.detection = detection
        self.decided = decided
        self.generation = generation
    }
}

/// A lock-free queue from the detector's thread to the one that acts. A full one drops the new event and counts it.
///
/// ``offer(_:)`` neither allocates, locks nor waits.
// Sendable is unchecked because of the raw memory: the indices give each slot to one side at a time.
public final class EventInbox: @unchecked Sendable {
    /// A power of two.
    public static let capacity = 256

    private let slots: UnsafeMutablePointer<HeardEvent>
    private let bell: Bell
    // The producer's numbers and the consumer's lie on cache lines of their own.
    private let written = Atomic<UInt64>(0)
    private let offered = Atomic<UInt64>(0)
    private let lost = Atomic<UInt64>(0)
    private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
    private let taken = Atomic<UInt64>(0)

    public init() throws(ServiceError) {
        bell = try Bell(or: ServiceError.noBell)
        slots = .allocate(capacity: EventInbox.capacity)
        let none = Detection(kind: .word, index: 0, confidence: 0, start: 0, end: 0, time: 0)
        slots.initialize(repeating: HeardEvent(none, decided: 0, generation: 0), count: EventInbox.capacity)
    }

    deinit { slots.deallocate() }

    /// Events dropped because the queue was full.
    public var lostEvents: UInt64 { lost.load(ordering: .relaxed) }

    /// Hands an event over; only one thread may. Returns whether there was room.
    @discardableResult
    public func offer(_ event: HeardEvent) -> Bool {
        let sequence = offered.load(ordering: .relaxed) + 1
        offered.store(sequence, ordering: .relaxed)
        let slot = written.load(ordering: .relaxed)
        guard slot - taken.load(ordering: .acquiring) < UInt64(EventInbox.capacity) else {
            lost.add(1, ordering: .relaxed)
            return false
        }
        let place = slots + Int(slot % UInt64(EventInbox.capacity))
        place.pointee = event
        place.pointee.sequence = sequence
        written.store(slot + 1, ordering: .releasing)
        bell.ring()
        return true
    }

    /// The next event, if there is one; only one thread may ask.
    func take() -> HeardEvent? {
        let slot = taken.load(ordering: .relaxed)
        guard slot < written.load(ordering: .acquiring) else { return nil }
        let event = slots[Int(slot % UInt64(EventInbox.capacity))]
        taken.store(slot + 1, ordering: .releasing)
        return event
    }

    /// Waits until something may have been offered, or somebody rang.
    func wait() {
        var requests = [Poll.request(bell.descriptor, POLLIN)]
        Poll.wait(&requests, until: nil)
        bell.answer()
    }

    /// Ends a wait.
    func wake() { bell.ring() }
}
