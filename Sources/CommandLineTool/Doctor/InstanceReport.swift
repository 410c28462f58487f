import Configuration
import Control
import Core
import Diagnostics
private import System

/// The services of this machine that have a name, whether they run, and where two of them would disturb each other.
struct InstanceReport {
    /// Empty where no service has a name.
    let diagnoses: [Diagnosis]

    private static let check = "instances"

    init(_ environment: [String: String]) {
        let all = InstanceConfiguration.all(environment: environment)
        guard all.contains(where: { $0.instance != nil }) else {
            diagnoses = []
            return
        }
        // The service without a name has a configuration from the package, also where nobody starts it.
        let used = all.filter { $0.instance != nil || $0.isRunning(environment: environment) }
        let states = used.filter { $0.instance != nil }.map { Self.state($0, environment) }
        let collisions = used.indices.flatMap { first in
            used[(first + 1)...].flatMap { used[first].collisions(with: $0, machine: readableMachineName) }
        }
        diagnoses = states + collisions.map(Self.collision)
    }

    private static func state(_ configuration: InstanceConfiguration, _ environment: [String: String]) -> Diagnosis {
        let (name, path) = (configuration.instance?.name ?? "", configuration.path)
        guard configuration.isReadable else {
            return Diagnosis(
                .warning,
                check,
                "\(name): \(path) cannot be read",
                "see beckon config check \(ShellWord.quoted(path))"
            )
        }
        guard let socket = configuration.socket(environment: environment) else {
            return Diagnosis(.ok, check, "\(name): \(path); it has no control socket")
        }
        do throws(ControlError) {
            var client = try ControlClient(path: socket)
            guard case .status(let status) = try client.ask(.status).reply else {
                return Diagnosis(.ok, check, "\(name): it runs; \(path)")
            }
            let device = status.input?.device.map { $0.isEmpty ? "" : ", \($0)" } ?? ""
            return Diagnosis(.ok, check, "\(name): \(status.input?.state ?? "it runs")\(device); \(path)")
        } catch {
            return error == .notRunning
                ? Diagnosis(.ok, check, "\(name): it does not run; \(path)")
                : Diagnosis(.warning, check, "\(name): \(error)", "see journalctl -u beckon@\(name)")
        }
    }

    /// What to do follows the semicolon.
    private static func collision(_ line: String) -> Diagnosis {
        let parts = line.split(separator: "; ", maxSplits: 1).map(String.init)
        return Diagnosis(.warning, check, parts[0], parts.count > 1 ? parts[1] : "")
    }
}
