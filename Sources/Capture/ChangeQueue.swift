import Synchronization

/// Changes on their way from the capture thread to whoever tells them: bounded, without locks, one writer.
///
/// Full, it drops the new one and counts it; the state itself is in ``CaptureStatus``.
// Sendable is unchecked because of the raw memory: the two indices give each entry to one side at a time.
final class ChangeQueue: @unchecked Sendable {
    typealias Change = CaptureMachine.Change

    static let capacity: UInt64 = 64

    private let entries = UnsafeMutablePointer<Change>.allocate(capacity: Int(capacity))
    private let written = Atomic<UInt64>(0)
    private let taken = Atomic<UInt64>(0)
    private let lost = Atomic<UInt64>(0)
    /// For readers only, who may be several.
    private let reading = Mutex(())

    init() {
        entries.initialize(repeating: Change(.running, at: 0), count: Int(ChangeQueue.capacity))
    }

    deinit { entries.deallocate() }

    /// Changes that found no room.
    var dropped: UInt64 { lost.load(ordering: .relaxed) }

    func put(_ change: Change) {
        let index = written.load(ordering: .relaxed)
        guard index - taken.load(ordering: .acquiring) < ChangeQueue.capacity else {
            lost.store(lost.load(ordering: .relaxed) + 1, ordering: .relaxed)
            return
        }
        entries[Int(index % ChangeQueue.capacity)] = change
        written.store(index + 1, ordering: .releasing)
    }

    func take() -> Change? {
        reading.withLock { _ in
            let index = taken.load(ordering: .relaxed)
            guard index < written.load(ordering: .acquiring) else { return nil }
            defer { taken.store(index + 1, ordering: .releasing) }
            return entries[Int(index % ChangeQueue.capacity)]
        }
    }
}
