import Control
import Core
import Events
import IntegrationInterface
import Synchronization

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
    let commands = Mutex<[ControlCommand]>([])
    let lines = Mutex<[String]>([])

    var interface: Service {
        Service(
            machine: "test box",
            log: ServiceLog { _, text in self.lines.withLock { $0.append(text) } },
            settings: { preconditionFailure("a broker's client needs the state only") },
            state: { self.state.withLock { $0 } },
            perform: { command, _ in
                self.commands.withLock { $0.append(command) }
                if command == .mute || command == .unmute { self.state.withLock { $0.isMuted = command == .mute } }
                return .done
            }
        )
    }
}
