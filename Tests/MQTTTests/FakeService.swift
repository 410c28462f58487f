import Audio
import Configuration
import Control
import Core
import DeviceGroup
import Events
import IntegrationInterface
import Metrics
import Synchronization
import System

/// A service that only remembers.
final class FakeService: Sendable {
    let state = Mutex(
        ServiceState(
            words: [ServiceState.Word(name: "stop", threshold: 0.9)],
            phrases: [],
            isMuted: false,
            hasAudio: true,
            level: -31.4
        )
    )
    /// Its name among several services; nil for none.
    let instance: Instance?
    let commands = Mutex<[ControlCommand]>([])
    let lines = Mutex<[String]>([])

    /// The group that it belongs to; nil for none.
    let group: GroupSink?

    init(instance: Instance? = nil, group: GroupSink? = nil) { (self.instance, self.group) = (instance, group) }

    var interface: any Service { Interface(fake: self) }

    private struct Interface: Service {
        let fake: FakeService

        var machine: String { "test box" }
        var instance: Instance? { fake.instance }
        var group: GroupSink? { fake.group }
        var log: ServiceLog { ServiceLog { _, text in fake.lines.withLock { $0.append(text) } } }
        var share: MachineShare { MachineShare() }
        var history: AudioHistory? { nil }
        var currentSettings: ServiceSettings { preconditionFailure("a broker's client needs the state only") }
        var state: ServiceState { fake.state.withLock { $0 } }
        var live: LiveState { LiveState() }
        var metrics: [MetricFamily] { [] }
        var problem: String? { nil }

        func perform(_ command: ControlCommand, _ later: @escaping @Sendable (ControlReply) -> Void) -> ControlReply? {
            fake.commands.withLock { $0.append(command) }
            if command == .mute || command == .unmute { fake.state.withLock { $0.isMuted = command == .mute } }
            return .done
        }
    }
}
