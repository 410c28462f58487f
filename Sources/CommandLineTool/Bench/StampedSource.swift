import Audio
import Capture
import Daemon
private import Synchronization
import System

/// A microphone that keeps when each block was where, for a measurement.
final class StampedSource: AudioSource {
    let microphone: Microphone
    private let stamps: Mutex<[StageTimes.Stamps]>

    /// - Parameter seconds: how long it will be listened to at most; the room for it is taken now.
    init(_ microphone: Microphone, seconds: Double) {
        self.microphone = microphone
        var room: [StageTimes.Stamps] = []
        room.reserveCapacity(Int(seconds / StageTimes.hop) + 1)
        stamps = Mutex(room)
    }

    /// In the order of the blocks.
    var blocks: [StageTimes.Stamps] { stamps.withLock { $0 } }

    var hasEnded: Bool { microphone.isStopped }

    func next(until time: Int64, _ body: (Span<Float>, AudioBlock) -> Void) -> Bool {
        var stamp = StageTimes.Stamps(captured: 0, read: 0, heard: 0)
        let found = microphone.nextBlock(until: time) { window, block in
            stamp.captured = block.time
            stamp.read = Clock.now
            body(window, block)
            stamp.heard = Clock.now
        }
        if found { stamps.withLock { $0.append(stamp) } }
        return found
    }
}
