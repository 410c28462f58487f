import Actions
import Control
import IntegrationInterface
import Synchronization
import System

/// The service as its clients know it: the control socket's commands, and what integrations get. Any thread.
extension Daemon {
    func perform(
        _ command: ControlCommand,
        _ later: @escaping @Sendable (ControlReply) -> Void
    ) -> ControlReply? {
        switch command {
        case .status, .events: return .status(status)
        case .misses: return .words(misses.list)
        case .change(let change): return changes.submit(change, later)
        }
    }

    /// The service as its integrations know it.
    var service: Service {
        let initial = settings.withLock { $0 }
        return Service(
            machine: readableMachineName,
            log: log,
            history: history,
            settings: { [weak self] in self?.currentSettings ?? initial },
            state: { [weak self] in
                self?.state ?? ServiceState(initial, isMuted: nil, hasAudio: false, level: nil)
            },
            live: { [weak self] in self?.live ?? LiveState() },
            metrics: { [weak self] in self?.metrics ?? [] },
            problem: { [weak self] in self?.notReady },
            perform: { [weak self] command, later in
                // Not by ??, because nil is a reply too: it comes later.
                guard let self else { return .failed("the service is stopping") }
                return perform(command, later)
            }
        )
    }
}
