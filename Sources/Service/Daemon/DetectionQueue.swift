import Core
import Glibc
import Spotting
import System

/// A detection in the queue from the detector's thread to the dispatcher's. It holds numbers only; the dispatcher looks
/// up the names.
struct QueuedDetection: Sendable, BitwiseCopyable {
    let detection: Detection
    /// The time of the decision, on the monotonic clock.
    let decided: Instant
    /// The settings under which it was decided; see ``DetectorSettings/generation``.
    let generation: UInt32
    /// Counts all detections from 1, including those that were dropped.
    let sequence: UInt64
}

/// The queue from the detector's thread (the producer) to the dispatcher's (the consumer), with an eventfd as wake-up.
///
/// ``push(_:)`` does not allocate, lock or wait. A full queue drops the new detection and counts it.
public final class DetectionQueue: Sendable {
    /// The largest number of queued detections.
    public static let capacity = 256

    private let queue = SPSCQueue<QueuedDetection>(capacity: capacity)
    private let wakeUp: EventFD

    /// Throws ``DaemonError`` if the eventfd cannot be created.
    public init() throws(DaemonError) { wakeUp = try EventFD(or: DaemonError.noEventFD) }

    /// Detections dropped because the queue was full.
    public var droppedCount: UInt64 { queue.droppedCount }

    /// Appends a detection. Producer only.
    ///
    /// - Returns: false if the queue was full and the detection was dropped.
    @discardableResult
    func push(_ detection: QueuedDetection) -> Bool {
        guard queue.push(detection) else { return false }
        wakeUp.signal()
        return true
    }

    /// Removes and returns the oldest detection; nil if the queue is empty. Consumer only.
    func pop() -> QueuedDetection? { queue.pop() }

    /// Waits until a detection is pushed or ``wake()`` is called. Consumer only.
    func wait() {
        var requests = [Poll.request(wakeUp.descriptor, POLLIN)]
        Poll.wait(&requests, until: nil)
        wakeUp.drain()
    }

    /// Ends a ``wait()``. Any thread.
    func wake() { wakeUp.signal() }
}
