import Control
private import Core
private import Glibc
private import System

/// Whether the service runs on this machine, and its state.
public struct ServiceCheck: Sendable {
    public let diagnosis: Diagnosis
    /// What there is to do with what runs; nil where nothing does, or something is wrong with it.
    public let next: String?
    /// Whether the service has closed its microphone.
    public let isMuted: Bool
    /// Whether a wake-word server runs and no service with a microphone: the audio comes from its clients.
    public let onlyServes: Bool
    /// The device that it hears; nil unless it does.
    public let device: String?
    /// Whether the service has the microphone open.
    public var isListening: Bool { device != nil }
    /// The command that starts the service; nil if it runs, or is not installed.
    public let start: String?

    private static let notInstalled =
        "it is not installed on this machine; beckon listen listens without it, until its terminal is closed"

    private static func start(_ environment: [String: String], _ root: String) -> String? {
        let unit = Instance.named(in: environment).unit
        let file = Instance.named(in: environment) == nil ? "beckon.service" : "beckon@.service"
        func isThere(_ folders: [String]) -> Bool {
            folders.contains { fileExists("\(root)\($0)/\(file)") }
        }
        if isThere(systemUnits) { return "sudo systemctl start \(unit)" }
        let own = environment["XDG_CONFIG_HOME"] ?? environment["HOME"].map { $0 + "/.config" }
        let isOwn = own.map { fileExists("\($0)/systemd/user/\(file)") } ?? false
        return isOwn || isThere(userUnits) ? "systemctl --user start \(unit)" : nil
    }

    /// Where units are installed: by the package, by hand, for one user.
    private static let systemUnits = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"]
    private static let userUnits = ["/etc/systemd/user", "/usr/lib/systemd/user"]

    /// Asks the service over its control socket, or the wake-word server where only that runs.
    ///
    /// - Parameters:
    ///   - environment: environment variables, which may name the socket and the user's folder of units.
    ///   - root: precedes the paths of units, and of the system's wake-word server; for tests.
    public init(_ environment: [String: String], root: String = "") {
        let instance = Instance.named(in: environment)
        let option = instance.map { "-i \($0.name) " } ?? ""
        do throws(ControlError) {
            var client = try ControlClient(path: ControlClient.findPath(environment: environment))
            guard case .status(let status) = try client.ask(.status).reply else { throw .socket }
            start = nil
            guard let input = status.input else {
                let clients = status.clients ?? 0
                (onlyServes, isMuted, device) = (true, false, nil)
                diagnosis = Diagnosis(.ok, "service", "the wake-word server runs, with \(counted(clients, "client"))")
                next =
                    clients > 0
                    ? "beckon events, and say a word at a satellite: the server prints it"
                    : "connect Home Assistant or a satellite to the wake-word server; beckon status counts its clients"
                return
            }
            onlyServes = false
            let state = input.state
            isMuted = state == "muted"
            device = state == "running" ? input.device : nil
            let text = "it runs; its state is: \(state)"
            switch state {
            case "running":
                diagnosis = Diagnosis(.ok, "service", text)
                next = "beckon \(option)events, and say a word: the service prints it"
            case "muted":
                diagnosis = Diagnosis(.ok, "service", text)
                next = "beckon \(option)unmute: the service is muted, so it hears nothing"
            default:
                let unit = instance.unit
                diagnosis = Diagnosis(.warning, "service", text, "see beckon \(option)status and journalctl -u \(unit)")
                next = nil
            }
        } catch {
            let unit = instance.unit
            (isMuted, device) = (false, nil)
            guard error == .notRunning else {
                (onlyServes, next, start) = (false, nil, nil)
                diagnosis = Diagnosis(.warning, "service", error.description, "see journalctl -u \(unit)")
                return
            }
            // Its folder is there while it runs, and only root may look into it.
            onlyServes = instance == nil && fileExists("\(root)/run/\(ControlServer.wakeServerUnit)")
            start = Self.start(environment, root)
            guard !onlyServes else {
                diagnosis = Diagnosis(.ok, "service", "the wake-word server runs; root can ask it more")
                next = "sudo beckon events, and say a word at a satellite: the server prints it"
                return
            }
            next = nil
            diagnosis = Diagnosis(.ok, "service", start.map { "it does not run; \($0) starts it" } ?? Self.notInstalled)
        }
    }
}
