import Configuration
import Control
import Core
import Diagnostics
private import System

/// The services of this machine that have a name, whether they run, and where two of them would disturb each other.
struct InstanceReport {
    /// Empty where no service has a name.
    let diagnoses: [Diagnosis]
    /// Those that run and can be asked.
    let running: [InstanceState]

    /// What there is to do with one that runs; nil where none does.
    var next: String? {
        running.first.map { one in
            one.state == "muted"
                ? "beckon -i \(one.name) unmute: it is muted, so it hears nothing"
                : "beckon -i \(one.name) events, and say a word: the service prints it"
        }
    }

    /// A service that runs, and its state.
    struct InstanceState {
        let name: String
        let state: String
    }

    private static let check = "instances"

    init(_ environment: [String: String]) {
        let all = InstanceConfiguration.all(environment: environment)
        guard all.contains(where: { $0.instance != nil }) else {
            (diagnoses, running) = ([], [])
            return
        }
        // The service without a name has a configuration from the package, also where nobody starts it.
        let used = all.filter { $0.instance != nil || $0.isRunning(environment: environment) }
        let states = used.filter { $0.instance != nil }.map { Self.look($0, environment) }
        running = states.compactMap(\.running)
        let collisions = used.indices.flatMap { first in
            used[(first + 1)...].flatMap { used[first].collisions(with: $0, machine: readableMachineName) }
        }
        diagnoses = states.map(\.diagnosis) + collisions.map(Self.collision)
    }

    private static func look(
        _ configuration: InstanceConfiguration,
        _ environment: [String: String]
    ) -> (diagnosis: Diagnosis, running: InstanceState?) {
        let (name, path) = (configuration.instance?.name ?? "", configuration.path)
        guard configuration.isReadable else {
            let remedy = "see beckon config check \(ShellWord.quoted(path))"
            return (Diagnosis(.warning, check, "\(name): \(path) cannot be read", remedy), nil)
        }
        guard let socket = configuration.socket(environment: environment) else {
            return (Diagnosis(.ok, check, "\(name): \(path); it has no control socket"), nil)
        }
        do throws(ControlError) {
            var client = try ControlClient(path: socket)
            guard case .status(let status) = try client.ask(.status).reply else {
                return (Diagnosis(.ok, check, "\(name): it runs; \(path)"), nil)
            }
            let device = status.input?.device.map { $0.isEmpty ? "" : ", \($0)" } ?? ""
            let state = status.input?.state ?? "it runs"
            return (
                Diagnosis(.ok, check, "\(name): \(state)\(device); \(path)"), InstanceState(name: name, state: state)
            )
        } catch {
            return error == .notRunning
                ? (Diagnosis(.ok, check, "\(name): it does not run; \(path)"), nil)
                : (Diagnosis(.warning, check, "\(name): \(error)", "see journalctl -u beckon@\(name)"), nil)
        }
    }

    /// What to do follows the semicolon.
    private static func collision(_ line: String) -> Diagnosis {
        let parts = line.split(separator: "; ", maxSplits: 1).map(String.init)
        return Diagnosis(.warning, check, parts[0], parts.count > 1 ? parts[1] : "")
    }
}
