public import Actions
public import Audio
public import Control
import Core
public import IntegrationInterface
import Synchronization
import System

/// The service as its clients know it: the control socket's commands, and what integrations get. Any thread.
extension Daemon: Service {
    public var machine: String { readableMachineName }
    public var history: AudioHistory? { pipeline?.history }

    public var share: MachineShare {
        if case .server(let threads) = setup.role {
            MachineShare(threads: threads, niceness: 0)
        } else {
            MachineShare()
        }
    }

    public func perform(
        _ command: ControlCommand,
        _ later: @escaping @Sendable (ControlReply) -> Void
    ) -> ControlReply? {
        switch (command, pipeline) {
        case (.status, _), (.events, _): .status(status)
        case (.change(.configuration), _): changes.submit(.configuration, later)
        case (_, nil): .failed("this service has no microphone, only clients")
        case (.misses, let pipeline?): .words(pipeline.misses.list)
        case (.change(let change), _): changes.submit(change, later)
        }
    }
}
