public import Core
import Glibc
public import Spotting
import System

/// A detection on its way from the detector's thread to the dispatcher's: plain numbers, named on the other side.
public struct QueuedDetection: Sendable, BitwiseCopyable {
    public let detection: Detection
    /// When it was decided, on the monotonic clock.
    public let decided: Instant
    /// Under which settings; see ``DetectorSettings/generation``.
    public let generation: UInt32
    /// Counts all detections from 1, those that find no room too.
    public let sequence: UInt64

    public init(_ detection: Detection, decided: Instant, generation: UInt32, sequence: UInt64) {
        self.detection = detection
        self.decided = decided
        self.generation = generation
        self.sequence = sequence
    }
}

/// The queue from the detector's thread (the producer) to the dispatcher's (the consumer), with a wake-up.
///
/// ``push(_:)`` neither allocates, locks nor waits. A full queue drops the new detection and counts it.
public final class DetectionQueue: Sendable {
    public static let capacity = 256

    private let queue = SPSCQueue<QueuedDetection>(capacity: capacity)
    private let wakeUp: EventFD

    public init() throws(DaemonError) { wakeUp = try EventFD(or: DaemonError.noEventFD) }

    /// Detections dropped because the queue was full.
    public var droppedCount: UInt64 { queue.droppedCount }

    /// Appends a detection. Producer only.
    ///
    /// - Returns: false where the queue was full and the detection is dropped.
    @discardableResult
    public func push(_ detection: QueuedDetection) -> Bool {
        guard queue.push(detection) else { return false }
        wakeUp.signal()
        return true
    }

    /// The oldest detection; nil where there is none. Consumer only.
    func pop() -> QueuedDetection? { queue.pop() }

    /// Waits until something was pushed or ``wake()`` called. Consumer only.
    func wait() {
        var requests = [Poll.request(wakeUp.descriptor, POLLIN)]
        Poll.wait(&requests, until: nil)
        wakeUp.drain()
    }

    /// Ends a ``wait()``. Any thread.
    func wake() { wakeUp.signal() }
}
