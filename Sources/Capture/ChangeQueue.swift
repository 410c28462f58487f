import Synchronization
import System

/// Changes on their way from the capture thread to whoever tells them: bounded, without locks, one writer.
///
/// Full, it drops the new one and counts it; the state itself is in ``CaptureStatus``.
// Sendable is unchecked because of the raw memory: the places give each entry to one side at a time.
final class ChangeQueue: @unchecked Sendable {
    typealias Change = CaptureMachine.Change

    static let capacity = 64

    private let entries = UnsafeMutablePointer<Change>.allocate(capacity: capacity)
    private let places = SPSCIndices(capacity: capacity)
    /// For readers only, who may be several.
    private let reading = Mutex(())

    init() {
        entries.initialize(repeating: Change(.running, at: 0), count: ChangeQueue.capacity)
    }

    deinit { entries.deallocate() }

    /// Changes that found no room.
    var dropped: UInt64 { places.lost }

    func put(_ change: Change) {
        guard let place = places.free() else { return }
        entries[place] = change
        places.publish()
    }

    func take() -> Change? {
        reading.withLock { _ in
            guard let place = places.oldest() else { return nil }
            defer { places.release() }
            return entries[place]
        }
    }
}
