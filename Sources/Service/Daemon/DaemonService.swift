import Actions
import Control
import Core
import IntegrationInterface
import Synchronization
import System

/// The service as its clients know it: the control socket's commands, and what integrations get. Any thread.
extension Daemon {
    func perform(
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

    /// The service as its integrations know it.
    var service: Service {
        let initial = currentSettings
        var share = Service.Share()
        if case .server(let threads) = setup.role { share = Service.Share(threads: threads, niceness: 0) }
        return Service(
            machine: readableMachineName,
            log: log,
            share: share,
            history: pipeline?.history,
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
