public import Audio
import Synchronization

/// What is listened to; it may change while a microphone captures.
public struct InputSelection: Equatable, Sendable {
    public var device: DeviceChoice
    /// How the device's channels become one.
    public var mix: ChannelMix

    public init(device: DeviceChoice = .auto, mix: ChannelMix = .mix) {
        self.device = device
        self.mix = mix
    }
}

/// The choice on its way to the capture thread, which looks for another one all the time and reads it as it opens a device.
final class SelectionMailbox: Sendable {
    private let choice: Mutex<InputSelection>
    private let changes = Atomic<UInt64>(0)

    init(_ choice: InputSelection) { self.choice = Mutex(choice) }

    /// Takes a lock.
    var value: InputSelection { choice.withLock { $0 } }

    /// How often it has changed.
    var generation: UInt64 { changes.load(ordering: .acquiring) }

    /// Whether this is another one than before.
    func change(to new: InputSelection) -> Bool {
        choice.withLock { choice in
            guard choice != new else { return false }
            choice = new
            changes.add(1, ordering: .releasing)
            return true
        }
    }
}
