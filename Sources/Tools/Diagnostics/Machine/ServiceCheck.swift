import Control
private import Glibc
private import System

/// Whether the service runs on this machine, and its state.
public struct ServiceCheck: Sendable {
    public let diagnosis: Diagnosis
    /// Whether the service has the microphone open.
    public let isListening: Bool
    /// The device that it hears; nil unless it does.
    public let device: String?
    /// The command that starts the service; nil if it runs, or is not installed.
    public let start: String?

    private static let notInstalled =
        "it is not installed on this machine; beckon listen listens without it, until its terminal is closed"

    private static func start(_ environment: [String: String], _ root: String) -> String? {
        let unit = Instance.named(in: environment).unit
        let file = Instance.named(in: environment) == nil ? "beckon.service" : "beckon@.service"
        func isThere(_ folders: [String]) -> Bool {
            folders.contains { access("\(root)\($0)/\(file)", F_OK) == 0 }
        }
        if isThere(systemUnits) { return "sudo systemctl start \(unit)" }
        let own = environment["XDG_CONFIG_HOME"] ?? environment["HOME"].map { $0 + "/.config" }
        let isOwn = own.map { access("\($0)/systemd/user/\(file)", F_OK) == 0 } ?? false
        return isOwn || isThere(userUnits) ? "systemctl --user start \(unit)" : nil
    }

    /// Where units are installed: by the package, by hand, for one user.
    private static let systemUnits = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"]
    private static let userUnits = ["/etc/systemd/user", "/usr/lib/systemd/user"]

    /// Asks the service over its control socket.
    ///
    /// - Parameters:
    ///   - environment: environment variables, which may name the socket and the user's folder of units.
    ///   - root: precedes the paths of units; for tests.
    public init(_ environment: [String: String], root: String = "") {
        let path = ControlClient.findPath(environment: environment)
        let unit = Instance.named(in: environment).unit
        do throws(ControlError) {
            var client = try ControlClient(path: path)
            var state = "unknown"
            var device: String?
            if case .status(let status) = try client.ask(.status).reply {
                state = status.input?.state ?? state
                device = status.input?.device
            }
            isListening = state == "running"
            self.device = isListening ? device : nil
            let text = "it runs; its state is: \(state)"
            start = nil
            switch state {
            case "running", "muted": diagnosis = Diagnosis(.ok, "service", text)
            default:
                diagnosis = Diagnosis(.warning, "service", text, "see beckon status and journalctl -u \(unit)")
            }
        } catch {
            (isListening, device) = (false, nil)
            let start = error == .notRunning ? Self.start(environment, root) : nil
            self.start = start
            diagnosis =
                error == .notRunning
                ? Diagnosis(.ok, "service", start.map { "it does not run; \($0) starts it" } ?? Self.notInstalled)
                : Diagnosis(.warning, "service", error.description, "see journalctl -u \(unit)")
        }
    }
}
