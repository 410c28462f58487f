public import Core
import Glibc
public import Spotting
import Synchronization
import System

/// What the detector's thread hands over: plain numbers, whose names are looked up on the other side.
public struct HeardEvent: Sendable, BitwiseCopyable {
    public let detection: Detection
    /// When it was decided, on the monotonic clock.
    public let decided: Instant
    /// Which configuration the detector followed, as ``ActionRunner/apply(_:labels:)`` numbered it.
    public let generation: UInt32
    /// Counts all events from 1.
    fileprivate(set) var sequence: UInt64 = 0

    public init(_ detection: Detection, decided: Instant, generation: UInt32) {
        self.detection = detection
        self.decided = decided
        self.generation = generation
    }
}

/// A lock-free queue from the detector's thread to the one that acts. A full one drops the new event and counts it.
///
/// ``offer(_:)`` neither allocates, locks nor waits.
public final class EventInbox: Sendable {
    public static let capacity = 256

    private let wakeUp: EventFD
    private let queue = SPSCQueue<HeardEvent>(capacity: capacity)
    private let offered = Atomic<UInt64>(0)

    public init() throws(ActionError) {
        wakeUp = try EventFD(or: ActionError.noEventFD)
    }

    /// Events dropped because the queue was full.
    public var lostEvents: UInt64 { queue.droppedCount }

    /// Hands an event over; only one thread may. Returns whether there was room.
    @discardableResult
    public func offer(_ event: HeardEvent) -> Bool {
        let sequence = offered.load(ordering: .relaxed) + 1
        offered.store(sequence, ordering: .relaxed)
        var event = event
        event.sequence = sequence
        guard queue.push(event) else { return false }
        wakeUp.signal()
        return true
    }

    /// The next event, if there is one; only one thread may ask.
    func take() -> HeardEvent? { queue.pop() }

    /// Waits until something may have been offered, or somebody rang.
    func wait() {
        var requests = [Poll.request(wakeUp.descriptor, POLLIN)]
        Poll.wait(&requests, until: nil)
        wakeUp.drain()
    }

    /// Ends a wait.
    func wake() { wakeUp.signal() }
}
